#include "clearformer/models/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The processors in the order of upstream's generate().
std::vector<float> processed(const Json& options, std::vector<float> scores) {
  const auto value = [&](const char* name) { return options.find(name)->number(); };
  if (options.find("temperature") != nullptr) {
    apply_temperature(scores.data(), scores.size(), static_cast<float>(value("temperature")));
  }
  if (options.find("top_k") != nullptr) {
    apply_top_k(scores.data(), scores.size(), static_cast<std::size_t>(value("top_k")));
  }
  if (options.find("top_p") != nullptr) apply_top_p(scores.data(), scores.size(), value("top_p"));
  return scores;
}

TEST(Processors, EqualTheReference) {
  const Fixture fixture("stories260K");
  std::size_t compared = 0;
  for (const Case* reference : fixture.of_op("process_scores")) {
    if (reference->options().find("min_p") || reference->options().find("repetition_penalty"))
      continue;
    const Tensor& scores = reference->input("scores");
    const std::vector<float> actual =
        processed(reference->options(), {scores.f32(), scores.f32() + scores.elements()});
    const Numbers expected(reference->output("processed_scores"));
    // One division; which tokens stay must be the same.
    expect_close(reference->name(), actual, expected.values, Bound{0.0, gamma(2)});
    ++compared;
  }
  EXPECT_EQ(compared, 6u);
}

TEST(TopK, KeepsTheKLargestAndTheirEquals) {
  const std::vector<float> scores = {1, 5, 3, 5, 2, 3};
  const auto kept = [&](std::size_t k) {
    std::vector<float> result = scores;
    apply_top_k(result.data(), result.size(), k);
    std::vector<int> indices;
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (result[i] == kMinusInfinity) continue;
      EXPECT_EQ(result[i], scores[i]);
      indices.push_back(static_cast<int>(i));
    }
    return indices;
  };
  EXPECT_EQ(kept(1), (std::vector<int>{1, 3}));
  EXPECT_EQ(kept(2), (std::vector<int>{1, 3}));
  EXPECT_EQ(kept(3), (std::vector<int>{1, 2, 3, 5}));
  EXPECT_EQ(kept(5), (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(kept(6).size(), 6u);
  EXPECT_EQ(kept(1000).size(), 6u);
}

TEST(TopP, KeepsTheSmallestSetThatReachesP) {
  // Probabilities 0.5, 0.3, 0.2.
  const std::vector<float> scores = {std::log(0.3f), std::log(0.5f), std::log(0.2f)};
  const auto kept = [&](double p) {
    std::vector<float> result = scores;
    apply_top_p(result.data(), result.size(), p);
    std::string indices;
    for (std::size_t i = 0; i < 3; ++i) {
      if (result[i] != kMinusInfinity) indices += concat(i);
    }
    return indices;
  };
  EXPECT_EQ(kept(1.0), "012");
  EXPECT_EQ(kept(0.9), "012");
  EXPECT_EQ(kept(0.75), "01");
  EXPECT_EQ(kept(0.4), "1");
  EXPECT_EQ(kept(1e-9), "1");
}

TEST(TopP, NeverRulesOutEverything) {
  std::vector<float> equal(50, 1.0f);
  apply_top_p(equal.data(), equal.size(), 1e-12);
  EXPECT_EQ(std::count(equal.begin(), equal.end(), 1.0f), 1);
  float one = -3.0f;
  apply_top_p(&one, 1, 0.1);
  EXPECT_EQ(one, -3.0f);
}

TEST(Largest, IsTheFirstOfEquals) {
  const float scores[] = {kMinusInfinity, 2.0f, 7.0f, 7.0f, -1.0f};
  EXPECT_EQ(largest(scores, 5), 2);
  EXPECT_EQ(largest(scores, 1), 0);
}

// Made with an independent Mersenne Twister: the draws are part of the promise, on every platform.
TEST(Sampler, DrawsTheSameTokensOnEveryPlatform) {
  const float scores[] = {0.0f, 0.5f, 1.0f, 1.5f};
  const auto draws = [&](std::uint64_t seed) {
    Sampler sampler(seed);
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < 20; ++i) tokens.push_back(sampler.draw(scores, 4));
    return tokens;
  };
  using Tokens = std::vector<std::int32_t>;
  EXPECT_EQ(draws(0), (Tokens{3, 3, 3, 2, 2, 3, 2, 3, 3, 2, 3, 2, 3, 3, 0, 0, 0, 3, 3, 3}));
  EXPECT_EQ(draws(42), (Tokens{2, 3, 3, 3, 1, 1, 0, 3, 3, 3, 0, 3, 3, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(draws(4294967301),
            (Tokens{2, 2, 2, 3, 3, 1, 3, 0, 2, 3, 3, 0, 3, 2, 1, 2, 3, 2, 1, 2}));
  EXPECT_EQ(draws(~std::uint64_t{0}),
            (Tokens{2, 0, 1, 3, 3, 0, 1, 2, 1, 1, 3, 2, 3, 1, 2, 0, 3, 3, 3, 3}));
}

TEST(Sampler, DrawsInProportionToTheProbabilities) {
  Random random(1);
  const std::vector<float> scores = random.list(10, -2, 2);
  double total = 0.0;
  for (const float score : scores) total += std::exp(double{score});
  Sampler sampler(7);
  constexpr int kDraws = 200'000;
  std::vector<int> counts(10);
  for (int i = 0; i < kDraws; ++i)
    ++counts[static_cast<std::size_t>(sampler.draw(scores.data(), 10))];
  for (std::size_t i = 0; i < 10; ++i) {
    const double p = std::exp(double{scores[i]}) / total;
    // Five standard deviations of a binomial count.
    EXPECT_NEAR(counts[i], kDraws * p, 5.0 * std::sqrt(kDraws * p * (1.0 - p))) << "token " << i;
  }
}

TEST(Sampler, NeverDrawsWhatWasRuledOut) {
  std::vector<float> scores(20, kMinusInfinity);
  scores[3] = -5.0f;
  scores[17] = 1e30f;
  Sampler sampler(1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(sampler.draw(scores.data(), 20), 17);
  scores[17] = -5.0f;
  for (int i = 0; i < 1000; ++i) {
    const std::int32_t token = sampler.draw(scores.data(), 20);
    EXPECT_TRUE(token == 3 || token == 17);
  }
}

}  // namespace
}  // namespace clearformer::test
