#include "clearformer/generation/logits_processors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/generation_options.h"
#include "support/json_text.h"

namespace clearformer::test {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

std::vector<float> processed(const std::string& json, std::vector<float> scores,
                             const TokenIds& tokens, const TokenIds& encoder = {},
                             std::size_t prompt_length = 1) {
  const auto config = shared(json);
  const LogitsProcessors processors(config, prompt_length, config->max_length.value_or(1000),
                                    scores.size());
  processors.apply(scores, tokens, encoder);
  processors.finish(scores);
  return scores;
}

TEST(LogitsProcessors, RepetitionPenaltyCountsATokenOnce) {
  EXPECT_EQ(processed(R"({"repetition_penalty": 2})", {4, -4, 0, 8}, {0, 1, 0, 0, 1}),
            (std::vector<float>{2, -8, 0, 8}));
  EXPECT_EQ(processed(R"({"encoder_repetition_penalty": 2})", {4, -4, 0, 8}, {3}, {0, 1, 0}),
            (std::vector<float>{8, -2, 0, 8}));
}

TEST(LogitsProcessors, NGramsDoNotComeTwice) {
  const auto left = [](std::size_t size, const TokenIds& tokens) {
    const std::vector<float> scores =
        processed(concat(R"({"no_repeat_ngram_size": )", size, "}"), {0, 0, 0, 0, 0}, tokens);
    TokenIds ids;
    for (std::int32_t i = 0; i < 5; ++i) {
      if (scores[static_cast<std::size_t>(i)] == 0.0f) ids.push_back(i);
    }
    return ids;
  };
  const TokenIds tokens = {0, 1, 2, 0, 1, 3, 0, 1};
  EXPECT_EQ(left(1, tokens), (TokenIds{4}));
  EXPECT_EQ(left(2, tokens), (TokenIds{0, 1, 4}));
  EXPECT_EQ(left(3, tokens), (TokenIds{0, 1, 4}));
  EXPECT_EQ(left(4, tokens), (TokenIds{0, 1, 2, 3, 4}));
  EXPECT_EQ(left(9, tokens), (TokenIds{0, 1, 2, 3, 4}));
  EXPECT_EQ(left(3, {1}), (TokenIds{0, 1, 2, 3, 4}));
}

TEST(LogitsProcessors, ABadWordIsStoppedAtItsLastToken) {
  const char* json = R"({"bad_words_ids": [[0], [1, 2], [3]], "eos_token_id": 3})";
  EXPECT_EQ(processed(json, {1, 1, 1, 1}, {2, 1}),
            (std::vector<float>{kMinusInfinity, 1, kMinusInfinity, 1}));
  EXPECT_EQ(processed(json, {1, 1, 1, 1}, {1, 2}), (std::vector<float>{kMinusInfinity, 1, 1, 1}));
}

TEST(LogitsProcessors, BiasesAddUp) {
  const char* json = R"({"sequence_bias": [[[2], 0.5], [[0, 2], 1], [[1, 0, 2], 2], [[2], 0.25]]})";
  EXPECT_EQ(processed(json, {0, 0, 0}, {1, 0, 1, 0}), (std::vector<float>{0, 0, 3.25}));
  EXPECT_EQ(processed(json, {0, 0, 0}, {1, 0}), (std::vector<float>{0, 0, 1.25}))
      << "three tokens do not fit two, as upstream counts";
  EXPECT_EQ(processed(R"({"sequence_bias": [[[0], 0.5]]})", {1, 2, 3}, {1}),
            (std::vector<float>{1.5, 2, 3}));
}

TEST(LogitsProcessors, LengthsDecideAboutTheEnd) {
  const std::vector<float> none = {1, 2, 3}, no_end = {1, kMinusInfinity, 3};
  const char* by_length = R"({"min_length": 4, "eos_token_id": 1})";
  EXPECT_EQ(processed(by_length, none, {0, 0, 0}), no_end);
  EXPECT_EQ(processed(by_length, none, {0, 0, 0, 0}), none);
  const char* by_new = R"({"min_new_tokens": 2, "min_length": 50, "eos_token_id": 1})";
  EXPECT_EQ(processed(by_new, none, {0, 0, 0}, {}, 2), no_end);
  EXPECT_EQ(processed(by_new, none, {0, 0, 0, 0}, {}, 2), none);
  const char* by_none = R"({"min_new_tokens": 0, "min_length": 50, "eos_token_id": 1})";
  EXPECT_EQ(processed(by_none, none, {0, 0, 0}, {}, 2), none) << "0 is a number, too, as upstream";
  const char* forced = R"({"forced_eos_token_id": [1, 2], "max_length": 5})";
  EXPECT_EQ(processed(forced, none, {0, 0, 0}), none);
  EXPECT_EQ(processed(forced, none, {0, 0, 0, 0}), (std::vector<float>{kMinusInfinity, 0, 0}));
}

TEST(LogitsProcessors, TheBeginningCanBeForcedAndSuppressed) {
  const std::vector<float> none = {1, 2, 3};
  const char* json = R"({"forced_bos_token_id": 0, "begin_suppress_tokens": [1]})";
  EXPECT_EQ(processed(json, none, {2}), (std::vector<float>{0, kMinusInfinity, kMinusInfinity}));
  EXPECT_EQ(processed(json, none, {2, 0}), (std::vector<float>{1, kMinusInfinity, 3}));
  EXPECT_EQ(processed(json, none, {2, 0, 0}), none);
  EXPECT_EQ(processed(R"({"begin_suppress_tokens": [1]})", none, {2}),
            (std::vector<float>{1, kMinusInfinity, 3}));
}

// As in Whisper: position 1 is chosen by the model, 2 and 3 are forced, the text begins at 4.
TEST(LogitsProcessors, TokensCanBeForcedByPosition) {
  const char* json =
      R"({"forced_decoder_ids": [[1, null], [2, 0], [3, 2]], "begin_suppress_tokens": [1]})";
  const std::vector<float> none = {1, 2, 3};
  EXPECT_EQ(processed(json, none, {9}), none);
  EXPECT_EQ(processed(json, none, {9, 0}), (std::vector<float>{0, kMinusInfinity, kMinusInfinity}));
  EXPECT_EQ(processed(json, none, {9, 0, 0}),
            (std::vector<float>{kMinusInfinity, kMinusInfinity, 0}));
  EXPECT_EQ(processed(json, none, {9, 0, 0, 0}), (std::vector<float>{1, kMinusInfinity, 3}));
}

// As in Whisper after the tokens of a previous text: the prompt already has what is forced.
TEST(LogitsProcessors, TheTextBeginsAfterThePrompt) {
  const char* json = R"({"forced_decoder_ids": [[1, null], [2, 0]], "begin_suppress_tokens": [1]})";
  EXPECT_EQ(processed(json, {1, 2, 3}, {9, 9, 9, 9}, {}, 4),
            (std::vector<float>{1, kMinusInfinity, 3}));
}

// Until then no timestamps are chosen: the language is, and then the task is forced.
TEST(LogitsProcessors, TimesBeginAfterForcedTokens) {
  const char* json = R"({"return_timestamps": true, "no_timestamps_token_id": 3, "eos_token_id": 2,
                         "forced_decoder_ids": [[1, null], [2, 1]]})";
  constexpr float kNo = kMinusInfinity;
  const std::vector<float> text = {5, 5, 5, 5, 1, 1, 1};
  EXPECT_EQ(processed(json, text, {9}), text);
  EXPECT_EQ(processed(json, text, {9, 0}), (std::vector<float>{kNo, 0, kNo, kNo, kNo, kNo, kNo}));
  EXPECT_EQ(processed(json, text, {9, 0, 1}), (std::vector<float>{kNo, kNo, kNo, kNo, 1, 1, 1}));
}

// As in Whisper: 0 and 1 are text, 2 is the end, 3 means no timestamps, 4 to 6 are timestamps.
TEST(LogitsProcessors, TimesComeInOrderAndInPairs) {
  const char* json = R"({"return_timestamps": true, "no_timestamps_token_id": 3, "eos_token_id": 2,
                         "max_initial_timestamp_index": 1})";
  constexpr float kNo = kMinusInfinity;
  const std::vector<float> text = {5, 5, 5, 5, 1, 1, 1};
  EXPECT_EQ(processed(json, text, {9}), (std::vector<float>{kNo, kNo, kNo, kNo, 1, 1, kNo}));
  EXPECT_EQ(processed(json, text, {9, 4}), (std::vector<float>{5, 5, 5, kNo, kNo, kNo, kNo}));
  EXPECT_EQ(processed(json, text, {9, 4, 0}), (std::vector<float>{5, 5, 5, kNo, kNo, 1, 1}));
  EXPECT_EQ(processed(json, text, {9, 4, 0, 5}), (std::vector<float>{kNo, kNo, 5, kNo, kNo, 1, 1}));
  EXPECT_EQ(processed(json, text, {9, 4, 0, 5, 5}),
            (std::vector<float>{5, 5, 5, kNo, kNo, kNo, kNo}));
  // Each of the two timestamps is less probable than the text, but together they are more probable.
  EXPECT_EQ(processed(json, {5, 5, 5, 5, 4.5, 4.5, 4.5}, {9, 4, 0}),
            (std::vector<float>{kNo, kNo, kNo, kNo, kNo, 4.5, 4.5}));
}

TEST(LogitsProcessors, TheEndBecomesLikelierByLength) {
  const char* json = R"({"exponential_decay_length_penalty": [2, 2.0], "eos_token_id": [0, 1]})";
  EXPECT_EQ(processed(json, {-1, 3, 5}, {9, 9, 9}), (std::vector<float>{-1, 3, 5}));
  EXPECT_EQ(processed(json, {-1, 3, 5}, {9, 9, 9, 9}), (std::vector<float>{0, 6, 5}));
  EXPECT_EQ(processed(json, {kMinusInfinity, 3, 5}, {9, 9, 9, 9, 9}),
            (std::vector<float>{kMinusInfinity, 12, 5}));
}

TEST(LogitsProcessors, InvalidValuesAreRemoved) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  EXPECT_EQ(
      processed(R"({"remove_invalid_values": true})",
                {std::numeric_limits<float>::quiet_NaN(), kMinusInfinity, -kMinusInfinity, 1}, {0}),
      (std::vector<float>{0, -kLargest, kLargest, 1}));
}

TEST(LogitsProcessors, NormalizedScoresAreLogProbabilities) {
  const std::vector<float> scores =
      processed(R"({"renormalize_logits": true})", {1, 2, kMinusInfinity, 1000}, {0});
  EXPECT_EQ(scores, (std::vector<float>{-999, -998, kMinusInfinity, 0}));
}

TEST(LogitsProcessors, TokensTheVocabularyDoesNotHaveAreRefusedOrCannotBeChosen) {
  expect_error(ErrorCode::invalid_argument, {"bad_words_ids", "token 3", "vocabulary has 3"},
               [] { processed(R"({"bad_words_ids": [[1, 3]]})", {1, 2, 3}, {0}); });
  expect_error(ErrorCode::invalid_argument, {"sequence_bias", "token 9"},
               [] { processed(R"({"sequence_bias": [[[9], 1]]})", {1, 2, 3}, {0}); });
  const std::pair<const char*, const char*> forced[] = {{"forced_bos_token_id", "3"},
                                                        {"forced_eos_token_id", "[0, 3]"},
                                                        {"forced_decoder_ids", "[[1, 0], [2, 3]]"}};
  for (const auto& [option, value] : forced) {
    const std::string options = concat("{\"", option, "\": ", value, "}");
    expect_error(ErrorCode::invalid_argument, {option, "token 3", "vocabulary has 3"},
                 [&] { processed(options, {1, 2, 3}, {0}); });
  }
  expect_error(ErrorCode::invalid_argument, {"eos_token_id", "token 3", "vocabulary has 3"}, [] {
    processed(R"({"return_timestamps": true, "no_timestamps_token_id": 1, "eos_token_id": 3})",
              {1, 2, 3}, {0});
  });
  for (const char* id : {"2", "3", "2147483647"}) {  // the first has no timestamp after it
    const std::string json = concat(R"({"return_timestamps": true, "eos_token_id": 0, )",
                                    R"("no_timestamps_token_id": )", id, "}");
    expect_error(ErrorCode::invalid_argument, {"no_timestamps_token_id", "vocabulary has 3"},
                 [&] { processed(json, {1, 2, 3}, {0}); });
  }
  EXPECT_EQ(processed(R"({"suppress_tokens": [7], "repetition_penalty": 2})", {1, 2, 3}, {8}),
            (std::vector<float>{1, 2, 3}));
}

TokenIds row_of(const Tensor& ids, std::size_t row) {
  const std::int32_t* first = ids.view().as<std::int32_t>() + row * ids.dim(1);
  return {first, first + ids.dim(1)};
}

TEST(LogitsProcessors, RulesWithoutTokensOrBeyondTheVocabularyChangeNothing) {
  const TokenIds tokens = {0, 1, 0};
  std::vector<float> scores = {1, 2, 3};
  apply_sequence_bias(scores, tokens, {{{}, 1.0f}, {{3}, 1.0f}, {{-1}, 1.0f}});
  forbid_words(scores, tokens, {{}, {3}}, {});
  forbid_repeated_ngrams(scores, tokens, tokens, 0);
  EXPECT_EQ(scores, (std::vector<float>{1, 2, 3}));
}

// All processors of upstream's list for these options, in its order, as in a sampling search.
TEST(LogitsProcessors, EqualTheReference) {
  const Fixture fixture("generation");
  std::size_t compared = 0;
  for (const Case* reference : fixture.of_op("logits_processor")) {
    SCOPED_TRACE(reference->name());
    GenerationConfig config;
    config.do_sample = true;
    config.top_k = 0;
    config.update(ConfigReader(options_text(*reference, {"prompt_length"}), "options"),
                  GenerationConfig::Unknown::refuse);
    Tensor scores = reference->input("scores").clone();
    const Tensor ids = reference->int32_input("input_ids");
    const bool encoder = reference->has_input("encoder_input_ids");
    const Tensor source = encoder ? reference->int32_input("encoder_input_ids") : ids.clone();
    const std::size_t vocabulary = scores.dim(1);
    const LogitsProcessors processors(std::make_shared<const GenerationConfig>(config),
                                      *reference->option("prompt_length").unsigned_integer(),
                                      config.max_length.value_or(1000), vocabulary);
    for (std::size_t row = 0; row < scores.dim(0); ++row) {
      const Scores own(scores.f32() + row * vocabulary, vocabulary);
      processors.apply(own, row_of(ids, row), row_of(source, row));
      processors.finish(own);
    }
    // A handful of float32 operations per score; the set of excluded tokens must be equal.
    expect_close(reference->name(), scores, reference->output("processed_scores"),
                 Bound{1e-6, gamma(8)});
    ++compared;
  }
  EXPECT_GT(compared, 50u);
}

// The bundled model's scores, a vocabulary of 512.
TEST(LogitsProcessors, EqualTheReferenceOnScoresOfAModel) {
  const Fixture fixture("stories260K");
  std::size_t compared = 0;
  for (const Case* reference : fixture.of_op("process_scores")) {
    GenerationConfig config;
    config.do_sample = true;
    config.top_k = 0;
    config.update(ConfigReader(options_text(*reference), "options"),
                  GenerationConfig::Unknown::refuse);
    Tensor scores = reference->input("scores").clone();
    const Tensor ids = reference->int32_input("input_ids");
    const LogitsProcessors processors(std::make_shared<const GenerationConfig>(config), ids.dim(1),
                                      1000, 512);
    processors.apply({scores.f32(), 512}, row_of(ids, 0), row_of(ids, 0));
    processors.finish({scores.f32(), 512});
    expect_close(reference->name(), scores, reference->output("processed_scores"),
                 Bound{0.0, gamma(2)});
    ++compared;
  }
  EXPECT_EQ(compared, 8u);
}

}  // namespace
}  // namespace clearformer::test
