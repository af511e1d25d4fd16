#include "clearformer/generation/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// exp(score - max), in double, unnormalised.
std::vector<double> relative_probabilities(std::span<const float> scores) {
  const float top = top_score(scores);
  std::vector<double> weights(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    weights[i] = portable_exp(static_cast<double>(scores[i]) - static_cast<double>(top));
  }
  return weights;
}

std::vector<double> probabilities(std::span<const float> scores) {
  std::vector<double> weights = relative_probabilities(scores);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  return weights;
}

double entropy_of(std::span<const double> probabilities) {
  double entropy = 0.0;
  for (const double p : probabilities) {
    if (p > std::numeric_limits<double>::min()) entropy -= p * portable_log(p);
  }
  return entropy;
}

// An integer with the same order as the float, and a place for NaN: sorting needs a total order.
std::uint32_t rank(float value) {
  if (std::isnan(value)) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(value == 0.0f ? 0.0f : value);
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

// The k-th largest rank.
std::uint32_t largest_rank(std::span<const float> scores, std::size_t k) {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(scores.size());
  for (const float score : scores) ranks.push_back(rank(score));
  // Bit by bit: the largest number that at least k ranks reach.
  std::uint32_t found = 0;
  for (std::uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    std::size_t reached = 0;
    for (const std::uint32_t own : ranks) reached += own >= (found | bit) ? 1 : 0;
    if (reached >= std::min(k, ranks.size())) found |= bit;
  }
  return found;
}

// Indices of the scores above -inf, in ascending order of key.
std::vector<std::size_t> ascending(std::span<const float> scores, std::span<const float> keys) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > kMinusInfinity) order.push_back(i);
  }
  const auto before = [keys](std::size_t left, std::size_t right) {
    const std::uint32_t a = rank(keys[left]), b = rank(keys[right]);
    return a != b ? a < b : left < right;
  };
  std::make_heap(order.begin(), order.end(), before);  // a third of std::sort's code
  std::sort_heap(order.begin(), order.end(), before);
  return order;
}

// Excludes tokens less probable than `least`, except the `tokens_to_keep` best.
void cut_off(Scores scores, std::span<const double> probabilities, double least,
             std::size_t tokens_to_keep) {
  const std::uint32_t kept = largest_rank(scores, tokens_to_keep);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (probabilities[i] < least && rank(scores[i]) < kept) scores[i] = kMinusInfinity;
  }
}

}  // namespace

void apply_temperature(Scores scores, double temperature) {
  const float divisor = static_cast<float>(temperature);
  for (float& score : scores) score /= divisor;
}

void apply_top_k(Scores scores, std::size_t k) {
  if (k >= scores.size()) return;
  const std::uint32_t smallest = largest_rank(scores, k);
  for (float& score : scores) {
    if (rank(score) < smallest) score = kMinusInfinity;
  }
}

void apply_top_p(Scores scores, double p, std::size_t tokens_to_keep) {
  if (p >= 1.0) return;
  const std::vector<double> probability = probabilities(scores);
  const std::vector<std::size_t> order = ascending(scores, scores);
  // In ascending order of probability: drop tokens while the dropped mass is at most 1 - p.
  double dropped = 0.0;
  for (std::size_t i = 0; i + tokens_to_keep < order.size(); ++i) {
    dropped += probability[order[i]];
    if (dropped > 1.0 - p) break;
    scores[order[i]] = kMinusInfinity;
  }
}

void apply_min_p(Scores scores, double p, std::size_t tokens_to_keep) {
  // The largest relative probability is 1.
  cut_off(scores, relative_probabilities(scores), p, tokens_to_keep);
}

void apply_typical(Scores scores, double mass, std::size_t tokens_to_keep) {
  if (mass >= 1.0) return;
  const std::vector<double> probability = probabilities(scores);
  const double entropy = entropy_of(probability);
  const double top = top_score(scores);
  const double log_top = portable_log(*std::max_element(probability.begin(), probability.end()));
  std::vector<float> distance(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    distance[i] = static_cast<float>(std::fabs(-(log_top + scores[i] - top) - entropy));
  }
  const std::vector<std::size_t> order = ascending(scores, distance);
  double sum = 0.0;
  std::size_t last = 0;  // the one that completes the mass
  while (last + 1 < order.size() && (sum += probability[order[last]]) < mass) ++last;
  for (std::size_t i = tokens_to_keep; i < order.size(); ++i) {
    if (distance[order[i]] > distance[order[last]]) scores[order[i]] = kMinusInfinity;
  }
}

void apply_epsilon_cutoff(Scores scores, double epsilon, std::size_t tokens_to_keep) {
  cut_off(scores, probabilities(scores), epsilon, tokens_to_keep);
}

void apply_eta_cutoff(Scores scores, double epsilon, std::size_t tokens_to_keep) {
  const std::vector<double> probability = probabilities(scores);
  const double eta = std::sqrt(epsilon) * portable_exp(-entropy_of(probability));
  cut_off(scores, probability, std::min(epsilon, eta), tokens_to_keep);
}

void apply_top_h(Scores scores, double share) {
  constexpr std::size_t kLooksAt = 100;
  const std::vector<std::size_t> order = best(scores, kLooksAt);
  std::vector<float> top;
  for (const std::size_t index : order) top.push_back(scores[index]);
  const std::vector<double> probability = probabilities(top);
  const double limit = share * entropy_of(probability);
  std::fill(scores.begin(), scores.end(), kMinusInfinity);
  double sum = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sum += entropy_of({&probability[i], 1});
    if (i == 0 || sum <= limit) scores[order[i]] = top[i];
  }
}

void narrow(Scores scores, const GenerationConfig& config, std::size_t tokens_to_keep) {
  if (config.temperature != 1.0) apply_temperature(scores, config.temperature);
  if (config.top_h) apply_top_h(scores, *config.top_h);
  if (config.top_k != 0) apply_top_k(scores, std::max(config.top_k, tokens_to_keep));
  apply_top_p(scores, config.top_p, tokens_to_keep);
  if (config.min_p != 0.0) apply_min_p(scores, config.min_p, tokens_to_keep);
  apply_typical(scores, config.typical_p, tokens_to_keep);
  const auto on = [](double cutoff) { return cutoff > 0.0 && cutoff < 1.0; };
  if (on(config.epsilon_cutoff)) {
    apply_epsilon_cutoff(scores, config.epsilon_cutoff, tokens_to_keep);
  }
  if (on(config.eta_cutoff)) apply_eta_cutoff(scores, config.eta_cutoff, tokens_to_keep);
}

std::vector<std::size_t> best(std::span<const float> scores, std::size_t count) {
  std::vector<std::size_t> found;  // sorted; short, so that insertion is cheap
  for (std::size_t i = 0; count != 0 && i < scores.size(); ++i) {
    const std::uint32_t own = rank(scores[i]);
    if (found.size() == count && own <= rank(scores[found.back()])) continue;
    if (found.size() == count) found.pop_back();
    auto place = found.end();
    while (place != found.begin() && rank(scores[place[-1]]) < own) --place;
    found.insert(place, i);
  }
  return found;
}

float top_score(std::span<const float> scores) {
  if (scores.empty()) fail(ErrorCode::invalid_argument, "generate: there are no scores");
  return *std::max_element(scores.begin(), scores.end());
}

std::int32_t largest(std::span<const float> scores) {
  top_score(scores);
  const std::size_t index = best(scores, 1).front();
  check_not_nan(scores, index);
  return static_cast<std::int32_t>(index);
}

void check_not_nan(std::span<const float> scores, std::size_t best_index) {
  if (rank(scores[best_index]) > rank(kMinusInfinity)) return;
  for (const float score : scores) {
    if (std::isnan(score)) {
      fail(ErrorCode::invalid_argument,
           "generate: the scores of all tokens that are not ruled out are NaN");
    }
  }
}

std::size_t Sampler::pick(std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0.0)) {
    fail(ErrorCode::invalid_argument,
         "generate: no token can be drawn, all were ruled out or their scores are not finite");
  }
  const auto draw = [this] { return static_cast<double>(generator_()); };
  const double high = draw(), low = draw();  // 53 random bits in [0, 1)
  const double uniform = (std::floor(high / 32.0) * 67108864.0 + std::floor(low / 64.0)) * 0x1p-53;
  double left = uniform * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    last = i;
    left -= weights[i];
    if (left < 0.0) break;
  }
  return last;
}

std::int32_t Sampler::draw(std::span<const float> scores) {
  return static_cast<std::int32_t>(pick(relative_probabilities(scores)));
}

std::vector<std::size_t> Sampler::draw(std::span<const float> scores, std::size_t count) {
  std::vector<double> weights = relative_probabilities(scores);
  std::vector<std::size_t> drawn;
  const auto probable = static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; }));
  while (drawn.size() < std::min(count, probable)) {
    drawn.push_back(pick(weights));
    weights[drawn.back()] = 0.0;
  }
  for (const std::size_t index : best(scores, count + drawn.size())) {
    if (drawn.size() == count) break;
    if (std::find(drawn.begin(), drawn.end(), index) == drawn.end()) drawn.push_back(index);
  }
  return drawn;
}

}  // namespace clearformer
