#include "clearformer/kernels/online_softmax.h"

#include <limits>

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

float highest_of(const float* scores, std::size_t columns, float so_far) {
  const Vec highest = fold(scores, columns, kMinusInfinity, Vec(so_far),
                           [](Vec state, Vec value) { return max(state, value); });
  return max_lane(highest);
}

// Replaces scores by exp(score - highest) and returns their sum.
float exponentiate(float* scores, std::size_t columns, float highest) {
  // If all scores are -inf, subtracting the maximum would give NaN: exp(-inf - 0) is the intended 0.
  const Vec shift(highest == kMinusInfinity ? 0.0f : highest);
  const ExpOfDifference exp_of_difference;
  Vec total(0.0f);
  for_each(columns, [&](std::size_t i, auto lanes) {
    const Vec power = exp_of_difference(load(scores + i, lanes, kMinusInfinity) - shift);
    store(scores + i, lanes, power);
    total += power;
  });
  return sum(total);
}

}  // namespace

void begin_online_softmax(const OnlineSoftmaxArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    float* scores = args.scores + row * args.score_stride;
    args.highest[row] = highest_of(scores, args.columns, kMinusInfinity);
    args.total[row] = exponentiate(scores, args.columns, args.highest[row]);
  }
}

void continue_online_softmax(const OnlineSoftmaxArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    float* scores = args.scores + row * args.score_stride;
    const float before = args.highest[row];
    const float highest = highest_of(scores, args.columns, before);
    if (highest > before) {
      const Vec factor = ExpOfDifference()(Vec(before - highest));
      float* output = args.output + row * args.output_stride;
      transform(output, output, args.width, [factor](Vec value) { return value * factor; });
      args.total[row] *= factor.get(0);
      args.highest[row] = highest;
    }
    args.total[row] += exponentiate(scores, args.columns, args.highest[row]);
  }
}

void end_online_softmax(const OnlineSoftmaxArgs& args) {
  for (std::size_t row = 0; row < args.rows; ++row) {
    float* output = args.output + row * args.output_stride;
    const Vec total(args.total[row] == 0.0f ? 1.0f : args.total[row]);
    transform(output, output, args.width, [total](Vec value) { return divide(value, total); });
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
