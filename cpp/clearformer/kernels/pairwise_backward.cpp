#include "clearformer/kernels/pairwise_backward.h"

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

template <class Lanes>
inline void add_to(float* sums, Lanes lanes, Vec value) {
  store(sums, lanes, load(sums, lanes) + value);
}

}  // namespace

void additive_score_gradient(const PairGradient& pair) {
  const Vec by(pair.dscore);
  const Tanh tanh;
  for_each(pair.count, [&](std::size_t i, auto lanes) {
    const Vec t = tanh(load(pair.query + i, lanes) + load(pair.key + i, lanes));
    const Vec slope = by * load(pair.weights + i, lanes) * (Vec(1.0f) - t * t);
    add_to(pair.dquery + i, lanes, slope);
    add_to(pair.dkey + i, lanes, slope);
    add_to(pair.dweights + i, lanes, by * t);
  });
}

void squared_distance_gradient(const PairGradient& pair) {
  const Vec by(2.0f * pair.dscore);
  for_each(pair.count, [&](std::size_t i, auto lanes) {
    const Vec slope = by * (load(pair.query + i, lanes) - load(pair.key + i, lanes));
    add_to(pair.dquery + i, lanes, slope);
    add_to(pair.dkey + i, lanes, -slope);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
