#include "clearformer/generation/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/generation_options.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kVocabulary = 6;
constexpr std::int32_t kEnd = 5;

// A random language model whose next token depends on the whole text.
std::vector<float> log_probs_after(const TokenIds& tokens) {
  std::uint64_t seed = 17;
  for (const std::int32_t token : tokens) seed = seed * 1000003 + static_cast<std::uint64_t>(token);
  std::vector<float> scores = Random(seed).list(kVocabulary, -2, 2);
  normalize(scores);
  return scores;
}

BeamSearch beam_search(const std::string& json, const std::vector<TokenIds>& prompts,
                       std::size_t max_length) {
  BeamSearch beams(shared(json), prompts, max_length, kVocabulary);
  while (!beams.done()) {
    std::vector<float> log_probs;
    for (const BeamSearch::Beam& beam : beams.running()) {
      const std::vector<float> row = log_probs_after(beam.tokens);
      log_probs.insert(log_probs.end(), row.begin(), row.end());
    }
    beams.advance(log_probs);
  }
  return beams;
}

float score_of(const TokenIds& tokens, std::size_t prompt, double length_penalty) {
  float sum = 0.0f;
  for (std::size_t i = prompt; i < tokens.size(); ++i) {
    const TokenIds before(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i));
    sum += log_probs_after(before)[static_cast<std::size_t>(tokens[i])];
  }
  return sum /
         static_cast<float>(std::pow(static_cast<double>(tokens.size() - prompt), length_penalty));
}

// Every text that ends with the end token or at max_length, best first.
std::vector<TokenIds> all_texts(const TokenIds& prompt, std::size_t max_length, double penalty) {
  std::vector<TokenIds> open = {prompt}, ended;
  while (!open.empty()) {
    const TokenIds text = open.back();
    open.pop_back();
    for (std::int32_t token = 0; token < static_cast<std::int32_t>(kVocabulary); ++token) {
      TokenIds next = text;
      next.push_back(token);
      (token == kEnd || next.size() == max_length ? ended : open).push_back(next);
    }
  }
  std::sort(ended.begin(), ended.end(), [&](const TokenIds& a, const TokenIds& b) {
    return score_of(a, prompt.size(), penalty) > score_of(b, prompt.size(), penalty);
  });
  return ended;
}

// With as many beams as texts the search is exhaustive.
TEST(BeamSearch, WithBeamsForAllTextsItFindsTheBest) {
  for (const double penalty : {0.0, 1.0, 2.0}) {
    for (std::int32_t first = 0; first < 5; ++first) {
      const TokenIds prompt = {first, 2};
      const std::vector<TokenIds> expected = all_texts(prompt, 5, penalty);
      const BeamSearch beams = beam_search(
          concat(R"({"num_beams": 160, "num_return_sequences": 8, "early_stopping": "never", )",
                 R"("eos_token_id": 5, "length_penalty": )", penalty, "}"),
          {prompt}, 5);
      const auto results = beams.results();
      ASSERT_EQ(results.size(), 8u);
      for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(results[i]->tokens, expected[i]) << "result " << i;
        EXPECT_NEAR(results[i]->score, score_of(expected[i], 2, penalty), 1e-5);
      }
    }
  }
}

TEST(BeamSearch, FollowsTheBestBeamsByHand) {
  // Two beams, no end token: at each step the two best sums of all continuations.
  const BeamSearch beams =
      beam_search(R"({"num_beams": 2, "num_return_sequences": 2})", {{0}, {3}}, 6);
  std::size_t row = 0;
  for (const std::int32_t first : {0, 3}) {
    std::vector<std::pair<float, TokenIds>> kept = {{0.0f, {first}}};
    for (int step = 0; step < 5; ++step) {
      std::vector<std::pair<float, TokenIds>> next;
      for (const auto& [sum, tokens] : kept) {
        const std::vector<float> row_scores = log_probs_after(tokens);
        for (std::int32_t token = 0; token < static_cast<std::int32_t>(kVocabulary); ++token) {
          TokenIds longer = tokens;
          longer.push_back(token);
          next.emplace_back(row_scores[static_cast<std::size_t>(token)] + sum, longer);
        }
      }
      std::stable_sort(next.begin(), next.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      kept.assign(next.begin(), next.begin() + 2);
    }
    for (const auto& [sum, tokens] : kept) {
      EXPECT_EQ(beams.results()[row]->tokens, tokens);
      EXPECT_EQ(beams.results()[row]->score, sum / 5.0f);
      EXPECT_TRUE(beams.results()[row]->finished);
      ++row;
    }
  }
}

TEST(BeamSearch, BeamIndicesLeadBackToTheTokens) {
  BeamSearch beams(shared(R"({"num_beams": 3})"), {{0}, {1}}, 9, kVocabulary);
  std::vector<TokenIds> rows(6);
  for (std::size_t row = 0; row < 6; ++row) rows[row] = {row < 3 ? 0 : 1};
  while (!beams.done()) {
    std::vector<float> log_probs;
    for (const TokenIds& row : rows) {
      const std::vector<float> scores = log_probs_after(row);
      log_probs.insert(log_probs.end(), scores.begin(), scores.end());
    }
    beams.advance(log_probs);
    std::vector<TokenIds> next;
    for (std::size_t row = 0; row < 6; ++row) {
      const BeamSearch::Beam& beam = beams.running()[row];
      const auto parent = static_cast<std::size_t>(beam.beams.back());
      EXPECT_EQ(parent / 3, row / 3) << "beams stay in their batch item";
      next.push_back(rows[parent]);
      next.back().push_back(beam.tokens.back());
      EXPECT_EQ(next.back(), beam.tokens);
    }
    rows = next;
  }
}

TEST(BeamSearch, EarlyStoppingEndsAtTheFirstFullSet) {
  std::map<std::string, std::size_t> length;
  for (const char* how : {"true", "false", "\"never\""}) {
    const BeamSearch beams =
        beam_search(concat(R"({"num_beams": 3, "eos_token_id": 5, "early_stopping": )", how, "}"),
                    {{2, 1}}, 40);
    length[how] = beams.running()[0].tokens.size();
    EXPECT_EQ(beams.results()[0]->tokens.back(), kEnd);
  }
  EXPECT_LE(length["true"], length["false"]);
  EXPECT_LE(length["false"], length["\"never\""]);
  EXPECT_LT(length["true"], length["\"never\""]) << "the example needs another prompt";
}

TEST(BeamSearch, TheLastStepEndsEverySequence) {
  BeamSearch beams(shared(R"({"num_beams": 2, "eos_token_id": 5})"), {{0}}, 100, kVocabulary);
  std::vector<float> log_probs = log_probs_after({0});
  const std::vector<float> again = log_probs;
  log_probs.insert(log_probs.end(), again.begin(), again.end());
  beams.advance(log_probs, true);
  EXPECT_TRUE(beams.done());
  EXPECT_EQ(beams.results()[0]->tokens[1], largest(again));
}

TEST(BeamSearch, SampledBeamsFollowTheirSeed) {
  const auto texts = [](int seed) {
    const BeamSearch beams = beam_search(
        concat(R"({"num_beams": 3, "num_return_sequences": 3, "do_sample": true, "seed": )", seed,
               "}"),
        {{0}, {0}}, 12);
    std::vector<TokenIds> all;
    for (const auto* beam : beams.results()) all.push_back(beam->tokens);
    return all;
  };
  const std::vector<TokenIds> first = texts(1);
  EXPECT_EQ(texts(1), first);
  EXPECT_NE(texts(2), first);
  EXPECT_NE(first[0], first[3]) << "each batch item draws for itself";
  for (const TokenIds& text : first) EXPECT_EQ(text.size(), 12u);
}

TEST(BeamSearch, PadsAsUpstreamDoes) {
  const auto fill = [](const char* json) {
    return BeamSearch(shared(json), {{0}}, 5, kVocabulary).fill();
  };
  EXPECT_EQ(fill(R"({"num_beams": 2, "eos_token_id": 5, "pad_token_id": 3})"), 3);
  EXPECT_EQ(fill(R"({"num_beams": 2, "eos_token_id": 5, "pad_token_id": 0})"), 5);
  EXPECT_EQ(fill(R"({"num_beams": 2, "eos_token_id": [4, 5]})"), 4);
  EXPECT_EQ(fill(R"({"num_beams": 2})"), -1);
}

TEST(BeamSearch, AVocabularyTooSmallIsRefused) {
  expect_error(
      ErrorCode::invalid_argument, {"beam search", "4 continuations", "vocabulary has 3"},
      [] { BeamSearch(shared(R"({"num_beams": 2, "eos_token_id": [0, 1, 2]})"), {{0}}, 5, 3); });
}

// A model with NaN outputs.
TEST(BeamSearch, RefusesNaN) {
  for (const char* sample : {"true", "false"}) {
    BeamSearch beams(
        shared(concat(R"({"num_beams": 4, "eos_token_id": 5, "do_sample": )", sample, "}")), {{0}},
        9, kVocabulary);
    std::vector<float> log_probs(24, std::nanf(""));
    log_probs[3] = -1.0f;
    beams.advance(log_probs);
    for (const float excluded : {std::nanf(""), -std::numeric_limits<float>::infinity()}) {
      log_probs[3] = excluded;
      expect_error(ErrorCode::invalid_argument, {"generate"}, [&] { beams.advance(log_probs); });
    }
  }
}

}  // namespace
}  // namespace clearformer::test
