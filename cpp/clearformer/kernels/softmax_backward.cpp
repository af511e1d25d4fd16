#include "clearformer/kernels/softmax_backward.h"

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void resume_softmax(float* scores, float highest, float inverse, std::size_t count) {
  const Vec shift(highest), by(inverse);
  const ExpOfDifference exp_of_difference;
  transform(scores, scores, count,
            [=](Vec score) { return exp_of_difference(score - shift) * by; });
}

void softmax_derivative(const float* p, float shift, float* d, std::size_t count) {
  const Vec of_row(shift);
  transform(p, d, d, count, [of_row](Vec weight, Vec value) { return weight * (value - of_row); });
}

double dot_of(const float* a, const float* b, std::size_t count) {
  DoubleSum sum;
  for_each(count, [&](std::size_t i, auto lanes) {
    sum.add_product(load(a + i, lanes), load(b + i, lanes));
  });
  return sum.total();
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
