// Sampling: narrowing the choice to likely tokens, as Hugging Face's warpers do, and seeded draws.
// Shapes: V vocabulary; scores (V).
#pragma once

#include <random>
#include <span>
#include <vector>

#include "clearformer/generation/generation_config.h"

namespace clearformer {

using Scores = std::span<float>;

/// scores / temperature.
void apply_temperature(Scores scores, double temperature);
/// Keeps the scores that are at least the k-th largest; the others become -inf.
void apply_top_k(Scores scores, std::size_t k);
/// Keeps the smallest set of most probable tokens whose probabilities sum to p or more.
void apply_top_p(Scores scores, double p, std::size_t tokens_to_keep = 1);
/// Keeps the tokens whose probability is at least p times the largest.
void apply_min_p(Scores scores, double p, std::size_t tokens_to_keep = 1);
/// Keeps the tokens whose -log p is nearest to the entropy, until their probabilities sum to `mass`
/// (Meister et al., Locally Typical Sampling).
void apply_typical(Scores scores, double mass, std::size_t tokens_to_keep = 1);
/// Keeps the tokens whose probability is at least epsilon.
void apply_epsilon_cutoff(Scores scores, double epsilon, std::size_t tokens_to_keep = 1);
/// The same with min(epsilon, sqrt(epsilon) · e^-entropy) (Hewitt et al., Truncation Sampling).
void apply_eta_cutoff(Scores scores, double epsilon, std::size_t tokens_to_keep = 1);
/// Of the 100 likeliest tokens keeps the first, while the entropy they contribute is at most `share`
/// of that of all 100 (Potraghloo et al., Top-H Decoding).
void apply_top_h(Scores scores, double share);
/// All of these that the config asks for, in upstream's order. At least `tokens_to_keep` stay.
void narrow(Scores scores, const GenerationConfig& config, std::size_t tokens_to_keep);

/// Index of the largest score; the first one of equals. Throws invalid_argument when all are NaN.
std::int32_t largest(std::span<const float> scores);
/// Throws invalid_argument when the best score there is, is NaN.
void check_finite(float best_score);
/// Indices of the `count` largest scores, the largest first; of equals the first ones. NaN counts as
/// the least.
std::vector<std::size_t> best(std::span<const float> scores, std::size_t count);

/// Draws tokens from softmax(scores). The same seed gives the same draws on every platform.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed)
      : generator_(static_cast<std::uint32_t>(seed ^ (seed >> 32) * 0x9e3779b9u)) {}
  /// Throws invalid_argument when no score is above -inf.
  std::int32_t draw(std::span<const float> scores);
  /// `count` different ones, in the order they were drawn. Where fewer have a probability, the best
  /// of the others follow.
  std::vector<std::size_t> draw(std::span<const float> scores, std::size_t count);

 private:
  std::size_t pick(std::span<const double> weights);
  std::mt19937 generator_;
};

}  // namespace clearformer
