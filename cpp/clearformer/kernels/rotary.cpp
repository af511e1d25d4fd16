#include "clearformer/kernels/rotary.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void rotate_halves(float* x, const float* cosines, const float* sines, std::size_t half) {
  float* y = x + half;
  std::size_t i = 0;
  const auto rotate = [](Vec& a, Vec& b, Vec cosine, Vec sine) {
    const Vec first = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = first;
  };
  for (; i + kLanes <= half; i += kLanes) {
    Vec a = load(x + i), b = load(y + i);
    rotate(a, b, load(cosines + i), load(sines + i));
    store(x + i, a);
    store(y + i, b);
  }
  if (i < half) {
    const std::size_t rest = half - i;
    Vec a = load_partial(x + i, rest), b = load_partial(y + i, rest);
    rotate(a, b, load_partial(cosines + i, rest), load_partial(sines + i, rest));
    store_partial(x + i, rest, a);
    store_partial(y + i, rest, b);
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
