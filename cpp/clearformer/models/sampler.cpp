#include "clearformer/models/sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace clearformer {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// exp(score - max), in double, not normalised.
std::vector<double> relative_probabilities(const float* scores, std::size_t count) {
  const float top = *std::max_element(scores, scores + count);
  std::vector<double> weights(count);
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] = std::exp(static_cast<double>(scores[i]) - static_cast<double>(top));
  }
  return weights;
}

}  // namespace

void apply_temperature(float* scores, std::size_t count, float temperature) {
  for (std::size_t i = 0; i < count; ++i) scores[i] /= temperature;
}

void apply_top_k(float* scores, std::size_t count, std::size_t k) {
  if (k >= count) return;
  std::vector<float> sorted(scores, scores + count);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(k - 1),
                   sorted.end(), std::greater<>());
  const float smallest = sorted[k - 1];
  for (std::size_t i = 0; i < count; ++i) {
    if (scores[i] < smallest) scores[i] = kMinusInfinity;
  }
}

void apply_top_p(float* scores, std::size_t count, double p) {
  if (p >= 1.0) return;
  const std::vector<double> weights = relative_probabilities(scores, count);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return scores[left] < scores[right];
  });
  // From the least probable upwards: drop while what was dropped stays within 1 - p.
  double dropped = 0.0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    dropped += weights[order[i]] / total;
    if (dropped > 1.0 - p) break;
    scores[order[i]] = kMinusInfinity;
  }
}

std::int32_t largest(const float* scores, std::size_t count) {
  return static_cast<std::int32_t>(std::max_element(scores, scores + count) - scores);
}

std::int32_t Sampler::draw(const float* scores, std::size_t count) {
  const std::vector<double> weights = relative_probabilities(scores, count);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double high = generator_(), low = generator_();  // 53 random bits in [0, 1)
  const double uniform = (std::floor(high / 32.0) * 67108864.0 + std::floor(low / 64.0)) * 0x1p-53;
  double left = uniform * total;
  std::int32_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (weights[i] == 0.0) continue;
    last = static_cast<std::int32_t>(i);
    left -= weights[i];
    if (left < 0.0) break;
  }
  return last;
}

}  // namespace clearformer
