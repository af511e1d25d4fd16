// Sampling: filters that keep likely tokens, as Hugging Face's warpers do, and seeded random draws.
// Shapes: V vocabulary; scores (V).
#pragma once

#include <random>
#include <span>
#include <vector>

#include "clearformer/generation/generation_config.h"

namespace clearformer {

using Scores = std::span<float>;

/// Divides scores by the temperature.
void apply_temperature(Scores scores, double temperature);
/// Keeps the scores that are at least the k-th largest; the others become -inf.
void apply_top_k(Scores scores, std::size_t k);
/// Keeps the smallest set of most probable tokens whose total probability is p or more.
void apply_top_p(Scores scores, double p, std::size_t tokens_to_keep = 1);
/// Keeps the tokens whose probability is at least p times the largest.
void apply_min_p(Scores scores, double p, std::size_t tokens_to_keep = 1);
/// Keeps the tokens whose -log p is closest to the entropy, until their total probability reaches `mass`
/// (Meister et al., Locally Typical Sampling).
void apply_typical(Scores scores, double mass, std::size_t tokens_to_keep = 1);
/// Keeps the tokens whose probability is at least epsilon.
void apply_epsilon_cutoff(Scores scores, double epsilon, std::size_t tokens_to_keep = 1);
/// The same with the threshold min(epsilon, sqrt(epsilon) · e^-entropy) (Hewitt et al., Truncation Sampling).
void apply_eta_cutoff(Scores scores, double epsilon, std::size_t tokens_to_keep = 1);
/// Keeps the most probable of the top 100 tokens, while their contribution to the entropy is at most `share` of that
/// of all 100 (Potraghloo et al., Top-H Decoding).
void apply_top_h(Scores scores, double share);
/// Applies all filters requested by the config, in upstream's order. At least `tokens_to_keep` tokens remain.
void narrow(Scores scores, const GenerationConfig& config, std::size_t tokens_to_keep);

/// The highest of the scores; throws invalid_argument if there are none.
float top_score(std::span<const float> scores);
/// Index of the largest score; ties go to the first. Throws like top_score and check_not_nan.
std::int32_t largest(std::span<const float> scores);
/// Throws invalid_argument if the best of `scores` is none: all are NaN or, at least one of them NaN, ruled out (-∞).
void check_not_nan(std::span<const float> scores, std::size_t best_index);
/// Indices of the `count` largest scores in descending order; ties go to the lower index. NaN ranks lowest.
std::vector<std::size_t> best(std::span<const float> scores, std::size_t count);

/// Samples tokens from softmax(scores). The same seed gives the same draws on every platform.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed)
      : generator_(static_cast<std::uint32_t>(seed ^ (seed >> 32) * 0x9e3779b9u)) {}
  /// Throws invalid_argument if no score is above -inf.
  std::int32_t draw(std::span<const float> scores);
  /// `count` draws without replacement, in the order drawn. If fewer have a non-zero probability, the best
  /// of the others follow.
  std::vector<std::size_t> draw(std::span<const float> scores, std::size_t count);

 private:
  std::size_t pick(std::span<const double> weights);
  std::mt19937 generator_;
};

}  // namespace clearformer
