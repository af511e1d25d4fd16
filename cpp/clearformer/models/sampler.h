// From logits to the next token: the processors of Hugging Face's generate(), in its order, then the
// largest score or a seeded draw.
// Shapes: V vocabulary.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// scores / temperature.
void apply_temperature(float* scores, std::size_t count, float temperature);
/// Keeps the scores that are at least the k-th largest; the others become -inf.
void apply_top_k(float* scores, std::size_t count, std::size_t k);
/// Keeps the smallest set of most probable tokens whose probabilities sum to p or more.
void apply_top_p(float* scores, std::size_t count, double p);

/// Index of the largest score; the first one of equals.
std::int32_t largest(const float* scores, std::size_t count);

/// Draws tokens from softmax(scores). The same seed gives the same draws on every platform.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed)
      : generator_(static_cast<std::uint32_t>(seed ^ (seed >> 32) * 0x9e3779b9u)) {}
  std::int32_t draw(const float* scores, std::size_t count);

 private:
  std::mt19937 generator_;
};

}  // namespace clearformer
