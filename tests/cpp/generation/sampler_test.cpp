#include "clearformer/generation/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "clearformer/generation/logits_processors.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

TEST(TopK, KeepsTheKLargestAndTheirEquals) {
  const std::vector<float> scores = {1, 5, 3, 5, 2, 3};
  const auto kept = [&](std::size_t k) {
    std::vector<float> result = scores;
    apply_top_k(result, k);
    std::vector<int> indices;
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (result[i] == kNever) continue;
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

TEST(TopK, TellsNeighboursApart) {
  for (const float score : {1.0f, -1.0f, 3e-45f, -3e-45f}) {
    std::vector<float> scores = {std::nextafter(score, kNever), score};
    apply_top_k(scores, 1);
    EXPECT_EQ(scores, (std::vector<float>{kNever, score}));
  }
}

TEST(TopP, KeepsTheSmallestSetThatReachesP) {
  // Probabilities 0.5, 0.3, 0.2.
  const std::vector<float> scores = {std::log(0.3f), std::log(0.5f), std::log(0.2f)};
  const auto kept = [&](double p) {
    std::vector<float> result = scores;
    apply_top_p(result, p);
    std::string indices;
    for (std::size_t i = 0; i < 3; ++i) {
      if (result[i] != kNever) indices += concat(i);
    }
    return indices;
  };
  EXPECT_EQ(kept(1.0), "012");
  EXPECT_EQ(kept(0.9), "012");
  EXPECT_EQ(kept(0.75), "01");
  EXPECT_EQ(kept(0.4), "1");
  EXPECT_EQ(kept(1e-9), "1");
}

// Probabilities that are sums of powers of two: a token is dropped while the dropped mass is at most 1 - p, including
// equality (upstream: cumulative <= 1 - p).
TEST(TopP, WhatIsLeftReachesPExactly) {
  // 1/2, 1/4, 1/8, 1/8
  const float two = std::log(2.0f);
  const std::vector<float> scores = {3 * two, 2 * two, two, two};
  const auto kept = [&](double p, std::size_t at_least) {
    std::vector<float> result = scores;
    apply_top_p(result, p, at_least);
    return std::count_if(result.begin(), result.end(), [](float x) { return x != kNever; });
  };
  constexpr double kBit = 1e-6;  // more than the logarithm's rounding
  EXPECT_EQ(kept(0.5 + kBit, 1), 2);
  EXPECT_EQ(kept(0.5 - kBit, 1), 1);
  EXPECT_EQ(kept(0.75 + kBit, 1), 3);
  EXPECT_EQ(kept(0.75 - kBit, 1), 2);
  EXPECT_EQ(kept(0.875 + kBit, 1), 4);
  EXPECT_EQ(kept(0.875 - kBit, 1), 3);
  EXPECT_EQ(kept(0.1, 2), 2);
  std::vector<float> halves = {1.0f, 1.0f};  // exactly 1/2 each: one of them is p
  apply_top_p(halves, 0.5, 1);
  EXPECT_EQ(halves, (std::vector<float>{kNever, 1.0f}));
}

// All tokens at the same distance as the one that completes the mass are kept.
TEST(Typical, KeepsTiesAtTheEdge) {
  const auto kept = [](std::vector<float> scores, double mass, std::size_t at_least) {
    apply_typical(scores, mass, at_least);
    std::string indices;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] != kNever) indices += concat(i);
    }
    return indices;
  };
  EXPECT_EQ(kept({1, 1, 1, 1}, 0.3, 1), "0123");  // all at distance 0
  // The likely token is the most typical; the mass is completed within the ties after it.
  EXPECT_EQ(kept({2, 0, 0, 0, 0, 0, 0, 0}, 0.2, 1), "0");
  EXPECT_EQ(kept({2, 0, 0, 0, 0, 0, 0, 0}, 0.6, 1), "01234567");
  EXPECT_EQ(kept({5, 0, 0, 0}, 0.2, 1), "0");
}

TEST(TopP, NeverRulesOutEverything) {
  std::vector<float> equal(50, 1.0f);
  apply_top_p(equal, 1e-12);
  EXPECT_EQ(std::count(equal.begin(), equal.end(), 1.0f), 1);
  std::vector<float> one = {-3.0f};
  apply_top_p(one, 0.1);
  EXPECT_EQ(one[0], -3.0f);
}

TEST(Largest, IsTheFirstOfEquals) {
  const float scores[] = {kNever, 2.0f, 7.0f, 7.0f, -1.0f};
  EXPECT_EQ(largest(scores), 2);
  EXPECT_EQ(largest({scores, 1}), 0);
  std::vector<float> broken(3, std::numeric_limits<float>::quiet_NaN());
  expect_error(ErrorCode::invalid_argument, {"NaN"}, [&] { largest(broken); });
  broken[1] = kNever;  // a token that a rule excludes is no better
  expect_error(ErrorCode::invalid_argument, {"NaN"}, [&] { largest(broken); });
}

// Computed with an independent Mersenne Twister: the samples are guaranteed on every platform.
TEST(Sampler, DrawsTheSameTokensOnEveryPlatform) {
  const float scores[] = {0.0f, 0.5f, 1.0f, 1.5f};
  const auto draws = [&](std::uint64_t seed) {
    Sampler sampler(seed);
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < 20; ++i) tokens.push_back(sampler.draw(scores));
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
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(sampler.draw(scores))];
  for (std::size_t i = 0; i < 10; ++i) {
    const double p = std::exp(double{scores[i]}) / total;
    // Five standard deviations of a binomial count.
    EXPECT_NEAR(counts[i], kDraws * p, 5.0 * std::sqrt(kDraws * p * (1.0 - p))) << "token " << i;
  }
}

TEST(Sampler, NeverDrawsWhatWasRuledOut) {
  std::vector<float> scores(20, kNever);
  scores[3] = -5.0f;
  scores[17] = 1e30f;
  Sampler sampler(1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(sampler.draw(scores), 17);
  scores[17] = -5.0f;
  for (int i = 0; i < 1000; ++i) {
    const std::int32_t token = sampler.draw(scores);
    EXPECT_TRUE(token == 3 || token == 17);
  }
}

TEST(Sampler, DrawsNothingWhereNothingIsLeft) {
  for (const float score : {kNever, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> scores(4, score);
    expect_error(ErrorCode::invalid_argument, {"no token can be drawn"},
                 [&] { Sampler(1).draw(scores); });
  }
}

// Without replacement: the first draw follows the probabilities, the second those of the remaining tokens.
TEST(Sampler, DrawsSeveralInProportionToWhatIsLeft) {
  const std::vector<float> scores = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  Sampler sampler(3);
  constexpr int kDraws = 100'000;
  int pairs[3][3] = {};
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<std::size_t> drawn = sampler.draw(scores, 2);
    ASSERT_EQ(drawn.size(), 2u);
    ++pairs[drawn[0]][drawn[1]];
  }
  const double p[] = {0.5, 0.3, 0.2};
  for (std::size_t a = 0; a < 3; ++a) {
    EXPECT_EQ(pairs[a][a], 0);
    for (std::size_t b = 0; b < 3; ++b) {
      if (a == b) continue;
      const double expected = p[a] * p[b] / (1.0 - p[a]);
      // Five standard deviations of a binomial count.
      EXPECT_NEAR(pairs[a][b], kDraws * expected,
                  5.0 * std::sqrt(kDraws * expected * (1.0 - expected)));
    }
  }
}

TEST(Sampler, FillsUpWithTheBestOfTheOthers) {
  const std::vector<float> scores = {-1e9f, 0.0f, kNever, -2e9f, -1e9f};
  EXPECT_EQ(Sampler(1).draw(scores, 4), (std::vector<std::size_t>{1, 0, 4, 3}));
}

TEST(Best, AreTheLargestAndOfEqualsTheFirst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> scores = {1.0f, nan, 3.0f, -0.0f, 3.0f, kNever, 0.0f, 2.0f};
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(best(scores, 0), Indices{});
  EXPECT_EQ(best(scores, 1), Indices{2});
  EXPECT_EQ(best(scores, 5), (Indices{2, 4, 7, 0, 3}));
  EXPECT_EQ(best(scores, 20), (Indices{2, 4, 7, 0, 3, 6, 5, 1}));
}

// NaN outputs of a model must not break the sort.
TEST(Narrowing, StandsNaN) {
  GenerationConfig config;
  config.top_k = 3;
  config.top_p = config.typical_p = 0.9;
  config.min_p = config.epsilon_cutoff = config.eta_cutoff = 0.1;
  config.top_h = 0.5;
  Random random(4);
  for (std::size_t count = 0; count <= 100; ++count) {
    std::vector<float> scores = random.list(100);
    for (std::size_t i = 0; i < count; ++i) {
      scores[random.below(100)] = std::numeric_limits<float>::quiet_NaN();
    }
    narrow(scores, config, 1);
    EXPECT_EQ(scores.size(), 100u);
  }
}

TEST(Sampler, WithoutScoresThereIsNothingToChoose) {
  const auto refuses = [](auto call) {
    expect_error(ErrorCode::invalid_argument, {"no scores"}, [&] { call(Scores()); });
  };
  refuses([](Scores none) { largest(none); });
  refuses([](Scores none) { Sampler(1).draw(none); });
  refuses([](Scores none) { Sampler(1).draw(none, 2); });
  refuses([](Scores none) { apply_top_p(none, 0.5); });
  refuses([](Scores none) { apply_min_p(none, 0.5); });
  refuses([](Scores none) { apply_typical(none, 0.5); });
  refuses([](Scores none) { apply_epsilon_cutoff(none, 0.5); });
  refuses([](Scores none) { apply_eta_cutoff(none, 0.5); });
  refuses([](Scores none) { apply_top_h(none, 0.5); });
  refuses([](Scores none) { normalize(none); });
}

}  // namespace
}  // namespace clearformer::test
