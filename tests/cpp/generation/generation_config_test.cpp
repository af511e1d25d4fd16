#include "clearformer/generation/generation_config.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.h"
#include "support/generation_options.h"
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
  EXPECT_EQ(config.eos_token_ids, (TokenIds{2, 3}));
  EXPECT_EQ(config.pad_token_id, 0);
}

TEST(GenerationConfig, HasTheSpecialTokensOfAModel) {
  ModelConfig model;
  model.eos_token_ids = {2, 3};
  model.pad_token_id = 0;
  model.bos_token_id = 1;
  model.decoder_start_token_id = 4;
  const GenerationConfig config = generation_config_of(model);
  EXPECT_EQ(config.eos_token_ids, model.eos_token_ids);
  EXPECT_EQ(config.pad_token_id, model.pad_token_id);
  EXPECT_EQ(config.bos_token_id, model.bos_token_id);
  EXPECT_EQ(config.decoder_start_token_id, model.decoder_start_token_id);
  EXPECT_EQ(config.max_new_tokens, std::nullopt);
}

TEST(GenerationConfig, TakesOverWhatRulesAndSearchesNeed) {
  const GenerationConfig config = options(
      R"({"num_beams": 4, "num_return_sequences": 3, "length_penalty": -0.5, "early_stopping": "never",
          "min_length": 5, "max_time": 1.5, "repetition_penalty": 1.2, "encoder_repetition_penalty": 0.9,
          "no_repeat_ngram_size": 3, "encoder_no_repeat_ngram_size": 2, "bad_words_ids": [[1], [2, 3]],
          "sequence_bias": [[[4], -1.5], [[5, 6], 2], [[4], 3]], "forced_bos_token_id": 8,
          "forced_eos_token_id": 9, "forced_decoder_ids": [[1, null], [2, 7]], "suppress_tokens": [1, 2],
          "begin_suppress_tokens": [3], "exponential_decay_length_penalty": [4, 1.1],
          "remove_invalid_values": true, "renormalize_logits": true, "min_p": 0.1, "top_h": 0.4,
          "typical_p": 0.8, "epsilon_cutoff": 0.01, "eta_cutoff": 0.02, "bos_token_id": 1,
          "decoder_start_token_id": 2, "stop_strings": ["a", "b"]})");
  EXPECT_EQ(config.num_beams, 4u);
  EXPECT_EQ(config.num_return_sequences, 3u);
  EXPECT_EQ(config.length_penalty, -0.5);
  EXPECT_EQ(config.early_stopping, EarlyStopping::never);
  EXPECT_EQ(config.min_length, 5u);
  EXPECT_EQ(config.max_time, 1.5);
  EXPECT_EQ(config.repetition_penalty, 1.2);
  EXPECT_EQ(config.encoder_repetition_penalty, 0.9);
  EXPECT_EQ(config.no_repeat_ngram_size, 3u);
  EXPECT_EQ(config.encoder_no_repeat_ngram_size, 2u);
  EXPECT_EQ(config.bad_words_ids, (std::vector<TokenIds>{{1}, {2, 3}}));
  ASSERT_EQ(config.sequence_bias.size(), 2u) << "the last bias of a sequence counts";
  EXPECT_EQ(config.sequence_bias[1].sequence, TokenIds{4});
  EXPECT_EQ(config.sequence_bias[1].bias, 3.0f);
  EXPECT_EQ(config.forced_bos_token_id, 8);
  EXPECT_EQ(config.forced_eos_token_id, TokenIds{9});
  ASSERT_EQ(config.forced_decoder_ids.size(), 1u);
  EXPECT_EQ(config.forced_decoder_ids[0].position, 2u);
  EXPECT_EQ(config.forced_decoder_ids[0].token, 7);
  EXPECT_EQ(config.suppress_tokens, (TokenIds{1, 2}));
  EXPECT_EQ(config.begin_suppress_tokens, TokenIds{3});
  EXPECT_EQ(config.exponential_decay_length_penalty->start, 4u);
  EXPECT_EQ(config.exponential_decay_length_penalty->factor, 1.1);
  EXPECT_TRUE(config.remove_invalid_values && config.renormalize_logits);
  EXPECT_EQ(config.min_p, 0.1);
  EXPECT_EQ(config.top_h, 0.4);
  EXPECT_EQ(config.typical_p, 0.8);
  EXPECT_EQ(config.epsilon_cutoff, 0.01);
  EXPECT_EQ(config.eta_cutoff, 0.02);
  EXPECT_EQ(config.bos_token_id, 1);
  EXPECT_EQ(config.decoder_start_token_id, 2);
  EXPECT_EQ(config.stop_strings, (std::vector<std::string>{"a", "b"}));
}

TEST(GenerationConfig, NullFromACallerSwitchesOptionsOff) {
  GenerationConfig config = options(
      R"({"max_new_tokens": 3, "eos_token_id": 2, "forced_bos_token_id": 1, "bad_words_ids": [[1]],
          "stop_strings": "x", "max_time": 1, "temperature": 0.5, "min_p": 0.5, "num_beams": 3,
          "do_sample": true})");
  const char* nothing =
      R"({"max_new_tokens": null, "eos_token_id": null, "forced_bos_token_id": null,
          "bad_words_ids": null, "stop_strings": null, "max_time": null, "temperature": null,
          "min_p": null, "num_beams": null, "top_k": null, "do_sample": null})";
  config.update(ConfigReader(nothing, "generation_config.json"), Unknown::ignore);
  EXPECT_EQ(config.max_new_tokens, 3u) << "a file's null says nothing";
  EXPECT_EQ(config.eos_token_ids, TokenIds{2});
  EXPECT_EQ(config.temperature, 0.5);
  EXPECT_EQ(config.top_k, 50u) << "the default";
  config.update(ConfigReader(nothing, "options"), Unknown::refuse);
  EXPECT_EQ(config.max_new_tokens, std::nullopt);
  EXPECT_TRUE(config.eos_token_ids.empty() && config.bad_words_ids.empty());
  EXPECT_TRUE(config.stop_strings.empty());
  EXPECT_EQ(config.forced_bos_token_id, std::nullopt);
  EXPECT_EQ(config.max_time, std::nullopt);
  EXPECT_EQ(config.temperature, 1.0);
  EXPECT_EQ(config.min_p, 0.0);
  EXPECT_EQ(config.num_beams, 1u);
  EXPECT_EQ(config.top_k, 0u);
  EXPECT_FALSE(config.do_sample);
}

TEST(GenerationConfig, NullFromACallerTakesBackRules) {
  GenerationConfig config = options(
      R"({"sequence_bias": [[[4], 2]], "forced_decoder_ids": [[1, 7]], "top_h": 0.4, "max_length": 9,
          "exponential_decay_length_penalty": [4, 1.1], "early_stopping": true})");
  config.update(ConfigReader(R"({"sequence_bias": null, "forced_decoder_ids": null, "top_h": null,
                                 "exponential_decay_length_penalty": null, "early_stopping": null})",
                             "options"),
                Unknown::refuse);
  EXPECT_TRUE(config.sequence_bias.empty() && config.forced_decoder_ids.empty());
  EXPECT_FALSE(config.exponential_decay_length_penalty || config.top_h);
  EXPECT_EQ(config.early_stopping, EarlyStopping::heuristic);
  EXPECT_EQ(config.max_length, 9u) << "not named";
}

TEST(GenerationConfig, TheLargestTokenIsThatOfAnyOption) {
  EXPECT_EQ(options(R"({"max_new_tokens": 70, "num_beams": 50})").largest_token(), std::nullopt);
  for (const char* json :
       {R"("pad_token_id": 9)", R"("eos_token_id": [9, 2])", R"("suppress_tokens": [3, 9])",
        R"("bad_words_ids": [[1], [2, 9]])", R"("sequence_bias": [[[9, 4], 1.0]])",
        R"("forced_decoder_ids": [[20, 9]])"}) {
    const std::string text = concat("{\"bos_token_id\": 5, ", json, "}");
    EXPECT_EQ(options(text).largest_token(), 9) << text;
  }
  EXPECT_EQ(options(R"({"bos_token_id": 0})").largest_token(), 0);
}

TEST(GenerationConfig, LaterUpdatesChangeOnlyWhatTheyName) {
  GenerationConfig config = options(R"({"temperature": 0.5, "top_k": 10, "eos_token_id": 2})");
  config.update(ConfigReader(R"({"top_k": 0})", "options"), Unknown::refuse);
  EXPECT_EQ(config.temperature, 0.5);
  EXPECT_EQ(config.top_k, 0u);
  EXPECT_EQ(config.eos_token_ids, TokenIds{2});
}

TEST(GenerationConfig, DefaultsAreUpstreams) {
  const GenerationConfig config;
  EXPECT_EQ(config.max_new_tokens, std::nullopt);
  EXPECT_EQ(config.max_length, std::nullopt);
  EXPECT_FALSE(config.do_sample);
  EXPECT_EQ(config.temperature, 1.0);
  EXPECT_EQ(config.top_k, 50u);
  EXPECT_EQ(config.top_p, 1.0);
}

TEST(GenerationConfig, OptionsItDoesNotHaveAreRefusedByName) {
  const std::pair<const char*, const char*> unsupported[] = {{"num_beam_groups", "2"},
                                                             {"diversity_penalty", "0.5"},
                                                             {"penalty_alpha", "0.6"},
                                                             {"guidance_scale", "1.5"},
                                                             {"assistant_model", "\"x\""},
                                                             {"assistant_early_exit", "4"},
                                                             {"prompt_lookup_num_tokens", "3"},
                                                             {"dola_layers", "\"low\""},
                                                             {"constraints", "[]"},
                                                             {"force_words_ids", "[[1]]"},
                                                             {"watermarking_config", "{}"},
                                                             {"token_healing", "true"},
                                                             {"low_memory", "true"},
                                                             {"custom_generate", "\"x\""}};
  for (const auto& [key, value] : unsupported) {
    const std::string json = concat("{\"", key, "\": ", value, "}");
    const std::string name = concat("\"", key, "\"");
    expect_error(ErrorCode::unsupported, {"options", name, "not supported"},
                 [&] { options(json); });
    // In a checkpoint's own file it is not ignored either.
    expect_error(ErrorCode::unsupported, {"generation_config.json", name}, [&] {
      GenerationConfig().update(ConfigReader(json, "generation_config.json"), Unknown::ignore);
    });
  }
}

TEST(GenerationConfig, NeutralValuesAreNoRequest) {
  options(
      R"({"num_beam_groups": 1, "diversity_penalty": 0.0, "penalty_alpha": 0, "guidance_scale": 1.0,
              "low_memory": false, "constraints": null})");
  options(R"({"use_cache": true, "output_scores": true, "return_dict_in_generate": true})");
}

TEST(GenerationConfig, UnknownKeysAreRefusedFromACallerAndIgnoredInAFile) {
  const char* json = R"({"temprature": 0.5})";
  expect_error(ErrorCode::unsupported, {"options", "\"temprature\"", "no option"},
               [&] { options(json); });
  GenerationConfig config;
  config.update(ConfigReader(R"({"transformers_version": "5.12.1", "_from_model_config": true,
                                 "seed": -1, "task_to_id": {"transcribe": 1}})",
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
      {"num_beams", {"0", "-1", "1.5"}},
      {"num_return_sequences", {"0"}},
      {"repetition_penalty", {"0", "-1.0", "1e-40", "1e40", "\"x\""}},
      {"encoder_repetition_penalty", {"0"}},
      {"length_penalty", {"\"x\""}},
      {"early_stopping", {"1", "\"always\"", "[]"}},
      {"min_p", {"-0.1", "1.5"}},
      {"top_h", {"0", "1.5"}},
      {"typical_p", {"0", "2"}},
      {"epsilon_cutoff", {"-1", "1.5"}},
      {"eta_cutoff", {"-1", "1.5"}},
      {"bad_words_ids", {"1", "[1]", "[[]]", "[[-1]]", "[[1.5]]", "{}"}},
      {"sequence_bias", {"1", "[1]", "[[[1]]]", "[[[], 1]]", "[[[1], \"x\"]]", "[[1, 1]]"}},
      {"forced_decoder_ids", {"1", "[1]", "[[1]]", "[[1, -1]]", "[[null, 1]]"}},
      {"exponential_decay_length_penalty", {"1", "[1]", "[1, null]", "[-1, 2]"}},
      {"suppress_tokens", {"-1", "[\"x\"]"}},
      {"stop_strings", {"1", "[1]"}},
      {"max_time", {"\"x\""}},
  };
  for (const auto& [key, values] : wrong) {
    for (const char* value : values) {
      SCOPED_TRACE(concat(key, ": ", value));
      expect_error(ErrorCode::invalid_argument, {"options", concat("\"", key, "\"")},
                   [&, key = key] { options(concat("{\"", key, "\": ", value, "}")); });
    }
  }
}

// As in transformers, whose warnings say so.
TEST(GenerationConfig, NumbersOfSamplingHaveNoRangeWhereNothingIsSampled) {
  for (const char* number : {R"("temperature": 0)", R"("temperature": -1)", R"("top_p": 0)",
                             R"("top_p": 1.5)", R"("typical_p": 0)", R"("top_h": 2)",
                             R"("min_p": 2)", R"("epsilon_cutoff": 1.5)", R"("eta_cutoff": -1)"}) {
    SCOPED_TRACE(number);
    const std::string greedy = concat(R"({"do_sample": false, )", number, "}");
    options(greedy).check();
    GenerationConfig file;
    file.update(ConfigReader(greedy, "generation_config.json"), Unknown::ignore);
    GenerationConfig config = file;
    config.update(ConfigReader(R"({"num_beams": 2})", "options"), Unknown::refuse);
    config.check();
    file.update(ConfigReader(R"({"do_sample": true})", "options"), Unknown::refuse);
    expect_error(ErrorCode::invalid_argument, {"\" must be", "it is"}, [&] { file.check(); });
  }
  expect_error(ErrorCode::invalid_argument, {"repetition_penalty"},
               [] { options(R"({"do_sample": false, "repetition_penalty": 0})"); });
}

TEST(GenerationConfig, ContradictionsAreRefused) {
  const auto refuse = [](ErrorCode code, const std::vector<std::string>& parts, const char* json) {
    const GenerationConfig config = options(json);
    expect_error(code, parts, [&] { config.check(); });
  };
  refuse(ErrorCode::invalid_argument, {"num_return_sequences", "(3)", "num_beams", "(2)"},
         R"({"num_beams": 2, "num_return_sequences": 3})");
  refuse(ErrorCode::invalid_argument, {"num_return_sequences", "do_sample"},
         R"({"num_return_sequences": 2})");
  for (const char* json : {R"({"return_timestamps": true, "eos_token_id": 2})",
                           R"({"return_timestamps": true, "no_timestamps_token_id": 3})"}) {
    refuse(ErrorCode::invalid_argument, {"return_timestamps", "no_timestamps_token_id"}, json);
  }
  refuse(ErrorCode::unsupported, {"stop_strings", "tokenizer"}, R"({"stop_strings": "end"})");
  options(R"({"num_return_sequences": 2, "do_sample": true})").check();
  options(R"({"num_return_sequences": 2, "num_beams": 2})").check();
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

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What JSON text is refused for is refused in a config that a program fills in, too.
TEST(GenerationConfig, ValuesOutsideTheirRangesAreRefused) {
  using Config = GenerationConfig;
  const std::pair<const char*, void (*)(Config&)> wrong[] = {
      {"num_beams", [](Config& config) { config.num_beams = 0; }},
      {"num_return_sequences", [](Config& config) { config.num_return_sequences = 0; }},
      {"no_repeat_ngram_size", [](Config& config) { config.no_repeat_ngram_size = kMost; }},
      {"min_new_tokens", [](Config& config) { config.min_new_tokens = kMost; }},
      {"max_new_tokens", [](Config& config) { config.max_new_tokens = kMost; }},
      {"temperature", [](Config& config) { config.temperature = 0.0; }},
      {"temperature", [](Config& config) { config.temperature = kNan; }},
      {"top_p", [](Config& config) { config.top_p = 2.0; }},
      {"min_p", [](Config& config) { config.min_p = -0.1; }},
      {"top_h", [](Config& config) { config.top_h = 5.0; }},
      {"max_time", [](Config& config) { config.max_time = kNan; }},
      {"repetition_penalty", [](Config& config) { config.repetition_penalty = -1.0; }},
      {"eos_token_id", [](Config& config) { config.eos_token_ids = {-1}; }},
      {"pad_token_id", [](Config& config) { config.pad_token_id = -1; }},
      {"bad_words_ids", [](Config& config) { config.bad_words_ids = {{}}; }},
      {"bad_words_ids", [](Config& config) { config.bad_words_ids = {{-1}}; }},
      {"sequence_bias", [](Config& config) { config.sequence_bias = {{{}, 1.0f}}; }},
      {"sequence_bias",
       [](Config& config) { config.sequence_bias = {{{5}, static_cast<float>(kNan)}}; }},
      {"forced_decoder_ids", [](Config& config) { config.forced_decoder_ids = {{kMost, 5}}; }},
      {"forced_decoder_ids", [](Config& config) { config.forced_decoder_ids = {{1, -1}}; }},
      {"exponential_decay_length_penalty",
       [](Config& config) { config.exponential_decay_length_penalty = {kMost, 2.0}; }},
      {"exponential_decay_length_penalty",
       [](Config& config) { config.exponential_decay_length_penalty = {3, kNan}; }}};
  Config().check();
  for (const auto& [key, change] : wrong) {
    Config config;
    change(config);
    expect_error(ErrorCode::invalid_argument, {"generate", concat("\"", key, "\" must")},
                 [&config = config] { config.check(); });
  }
}

}  // namespace
}  // namespace clearformer::test
