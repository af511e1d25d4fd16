#include "clearformer/models/generation_config.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/model_runs.h"
#include "support/mutation.h"

namespace clearformer::test {
namespace {

using Unknown = GenerationConfig::Unknown;

TEST(GenerationConfig, TakesOverWhatIsSet) {
  const GenerationConfig config = options(
      R"({"max_new_tokens": 7, "max_length": 30, "min_new_tokens": 2, "do_sample": true, "temperature": 0.8,
          "top_k": 20, "top_p": 0.9, "seed": 18446744073709551615, "eos_token_id": [2, 3], "pad_token_id": 0})");
  EXPECT_EQ(config.max_new_tokens, 7u);
  EXPECT_EQ(config.max_length, 30u);
  EXPECT_EQ(config.min_new_tokens, 2u);
  EXPECT_TRUE(config.do_sample);
  EXPECT_EQ(config.temperature, 0.8);
  EXPECT_EQ(config.top_k, 20u);
  EXPECT_EQ(config.top_p, 0.9);
  EXPECT_EQ(config.seed, 18446744073709551615u);
  EXPECT_EQ(config.eos_token_ids, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(config.pad_token_id, 0);
}

TEST(GenerationConfig, LaterUpdatesChangeOnlyWhatTheyName) {
  GenerationConfig config = options(R"({"temperature": 0.5, "top_k": 10, "eos_token_id": 2})");
  config.update(ConfigReader(R"({"top_k": 0, "temperature": null})", "options"), Unknown::refuse);
  EXPECT_EQ(config.temperature, 0.5);
  EXPECT_EQ(config.top_k, 0u);
  EXPECT_EQ(config.eos_token_ids, std::vector<std::int32_t>{2});
}

TEST(GenerationConfig, DefaultsAreUpstreams) {
  const GenerationConfig config;
  EXPECT_EQ(config.max_new_tokens, std::nullopt);
  EXPECT_EQ(config.max_length, 20u);
  EXPECT_FALSE(config.do_sample);
  EXPECT_EQ(config.temperature, 1.0);
  EXPECT_EQ(config.top_k, 50u);
  EXPECT_EQ(config.top_p, 1.0);
}

TEST(GenerationConfig, OptionsItDoesNotHaveAreRefusedByName) {
  const std::pair<const char*, const char*> unsupported[] = {{"num_beams", "4"},
                                                             {"num_return_sequences", "2"},
                                                             {"repetition_penalty", "1.3"},
                                                             {"min_p", "0.05"},
                                                             {"no_repeat_ngram_size", "2"},
                                                             {"typical_p", "0.9"},
                                                             {"penalty_alpha", "0.6"},
                                                             {"length_penalty", "2.0"},
                                                             {"bad_words_ids", "[[1]]"},
                                                             {"suppress_tokens", "[1]"},
                                                             {"guidance_scale", "1.5"},
                                                             {"stop_strings", "\"x\""},
                                                             {"forced_bos_token_id", "1"},
                                                             {"assistant_model", "\"x\""},
                                                             {"max_time", "1.0"}};
  for (const auto& [key, value] : unsupported) {
    const std::string json = concat("{\"", key, "\": ", value, "}");
    const std::string name = concat("\"", key, "\"");
    expect_error(ErrorCode::unsupported, {"options", name, "not supported"},
                 [&] { options(json); });
    // A checkpoint's own file cannot ask for it in silence either.
    expect_error(ErrorCode::unsupported, {"generation_config.json", name}, [&] {
      GenerationConfig().update(ConfigReader(json, "generation_config.json"), Unknown::ignore);
    });
  }
}

TEST(GenerationConfig, NeutralValuesAreNoRequest) {
  options(R"({"num_beams": 1, "num_return_sequences": 1, "repetition_penalty": 1.0, "min_p": 0.0,
              "no_repeat_ngram_size": 0, "typical_p": 1.0, "length_penalty": 1, "bad_words_ids": null})");
  options(R"({"use_cache": true, "output_scores": true, "return_dict_in_generate": true})");
}

TEST(GenerationConfig, UnknownKeysAreRefusedFromACallerAndIgnoredInAFile) {
  const char* json = R"({"temprature": 0.5})";
  expect_error(ErrorCode::unsupported, {"options", "\"temprature\"", "no option"},
               [&] { options(json); });
  GenerationConfig config;
  config.update(ConfigReader(R"({"transformers_version": "5.12.1", "_from_model_config": true})",
                             "generation_config.json"),
                Unknown::ignore);
}

TEST(GenerationConfig, WrongValuesAreRefusedByName) {
  const std::pair<const char*, std::vector<const char*>> wrong[] = {
      {"temperature", {"0", "-1", "\"hot\"", "0.0", "1e-44", "1e-300"}},
      {"top_p", {"0", "1.1", "-0.5", "\"x\""}},
      {"top_k", {"-1", "1.5", "\"x\"", "4294967296"}},
      {"max_new_tokens", {"-1", "2.5", "\"x\"", "true", "[1]"}},
      {"max_length", {"-1", "1e3"}},
      {"min_new_tokens", {"-1"}},
      {"do_sample", {"1", "\"true\""}},
      {"seed", {"-1", "0.5", "\"x\"", "18446744073709551616"}},
      {"eos_token_id", {"-1", "[2, \"x\"]", "1.0"}},
      {"pad_token_id", {"-1", "[0]", "1.0"}},
  };
  for (const auto& [key, values] : wrong) {
    for (const char* value : values) {
      SCOPED_TRACE(concat(key, ": ", value));
      expect_error(ErrorCode::invalid_argument, {"options", concat("\"", key, "\"")},
                   [&, key = key] { options(concat("{\"", key, "\": ", value, "}")); });
    }
  }
}

TEST(MutatedOptions, GiveATypedErrorOrAConfig) {
  Random random(1);
  const std::string json =
      R"({"max_new_tokens": 7, "do_sample": true, "temperature": 0.8, "top_k": 20, "top_p": 0.9, "seed": 3,
          "eos_token_id": [2, 3], "pad_token_id": 0})";
  std::size_t accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    try {
      const GenerationConfig config = options(mutated(json, random));
      EXPECT_GT(config.temperature, 0.0);
      EXPECT_GT(config.top_p, 0.0);
      EXPECT_LE(config.top_p, 1.0);
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 50u);
}

}  // namespace
}  // namespace clearformer::test
