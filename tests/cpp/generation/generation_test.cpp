#include "clearformer/generation/generation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "clearformer/loading/load_model.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/model_runs.h"
#include "support/story_generations.h"

namespace clearformer::test {
namespace {

using Tokens = TokenIds;
using Rows = std::vector<Tokens>;

TEST_F(GenerationOf, TheSameSeedGivesTheSameTokens) {
  const std::string json = R"({"max_new_tokens": 40, "do_sample": true, "seed": 11})";
  const Rows first = generated(prompt, json);
  EXPECT_EQ(generated(prompt, json), first);
  EXPECT_NE(generated(prompt, R"({"max_new_tokens": 40, "do_sample": true, "seed": 12})"), first);
}

// The samples of a seed are guaranteed: generation.test.ts expects the same ones.
TEST_F(GenerationOf, DrawsAreTheSameOnEveryPlatform) {
  const Tokens story = {432, 383, 286, 261, 298, 315, 421, 395, 317, 426, 317, 401, 396, 311, 298,
                        420, 412, 264, 423, 412, 284, 316, 404, 424, 374, 419, 426, 385, 328, 432,
                        317, 439, 419, 357, 343, 267, 341, 311, 344, 363, 289, 411, 322, 311, 357,
                        343, 426, 385, 328, 432, 263, 415, 290, 411, 337, 299, 432, 358, 284, 425};
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 60, "do_sample": true, "seed": 2024,
                                  "top_k": 0})")[0],
            story);
  Generation beams(model, inputs_of(prompt), options(R"({"max_new_tokens": 30, "do_sample": true,
      "seed": 7, "num_beams": 3, "temperature": 1.3})"));
  run(beams);
  const Tensor sequences = beams.sequences();
  const std::int32_t* first = sequences.view().as<std::int32_t>() + 5;
  const Tokens best = {432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426, 338, 401, 396, 267,
                       337, 410, 408, 419, 292, 411, 322, 265, 282, 295, 433, 426, 385, 328, 432};
  EXPECT_EQ(Tokens(first, first + 30), best);
}

TEST_F(GenerationOf, EveryRowOfABatchDrawsForItself) {
  Tensor batch({3, 5}, DType::i32);
  for (std::size_t i = 0; i < 15; ++i) {
    batch.mutable_view().as<std::int32_t>()[i] = prompt.view().as<std::int32_t>()[i % 5];
  }
  const Rows rows = generated(batch, R"({"max_new_tokens": 20, "do_sample": true, "seed": 5})");
  EXPECT_NE(rows[0], rows[1]);
  EXPECT_NE(rows[1], rows[2]);
  // The first row equals its result without the others.
  EXPECT_EQ(rows[0],
            generated(prompt, R"({"max_new_tokens": 20, "do_sample": true, "seed": 5})")[0]);
  const Rows greedy = generated(batch, R"({"max_new_tokens": 20})");
  EXPECT_EQ(greedy[0], greedy[1]);
}

TEST_F(GenerationOf, ALowTemperatureAndOneCandidateAreGreedy) {
  const Rows greedy = generated(prompt, R"({"max_new_tokens": 30})");
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "top_k": 1})"), greedy);
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "top_p": 1e-9})"),
            greedy);
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "temperature": 1e-4})"),
            greedy);
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "temperature": 1e-30})"),
            greedy);
}

TEST_F(GenerationOf, AnEndTokenEndsASequenceAndPaddingFollows) {
  const Tokens story = generated(prompt, R"({"max_new_tokens": 30})")[0];
  // The token whose first occurrence is latest ends this row; the batch's other row continues.
  const std::int32_t end = story[4];
  const auto at =
      static_cast<std::size_t>(std::find(story.begin(), story.end(), end) - story.begin());
  const Rows alone =
      generated(prompt, concat(R"({"max_new_tokens": 30, "eos_token_id": )", end, "}"));
  EXPECT_EQ(alone[0], Tokens(story.begin(), story.begin() + static_cast<int>(at) + 1));

  Tensor batch({2, 5}, DType::i32);
  const Tensor other = random_ids(3, 1, 5, 512);
  std::copy_n(prompt.view().as<std::int32_t>(), 5, batch.mutable_view().as<std::int32_t>());
  std::copy_n(other.view().as<std::int32_t>(), 5, batch.mutable_view().as<std::int32_t>() + 5);
  const Tokens second = generated(other, R"({"max_new_tokens": 30})")[0];
  ASSERT_EQ(std::find(second.begin(), second.begin() + static_cast<int>(at) + 2, end),
            second.begin() + static_cast<int>(at) + 2)
      << "the example needs another prompt";
  for (const int padding : {0, 9}) {
    const Rows rows = generated(batch, concat(R"({"max_new_tokens": 30, "pad_token_id": )", padding,
                                              R"(, "eos_token_id": )", end, "}"));
    EXPECT_EQ(rows[0].size(), rows[1].size());
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      EXPECT_EQ(rows[0][i], i <= at ? story[i] : padding) << "token " << i;
    }
    EXPECT_TRUE(std::equal(rows[1].begin(), rows[1].end(), second.begin()));
  }
}

TEST_F(GenerationOf, WithoutPaddingTokenTheEndTokenPads) {
  const Tokens story = generated(prompt, R"({"max_new_tokens": 3})")[0];
  Tensor batch({2, 5}, DType::i32);
  std::copy_n(prompt.view().as<std::int32_t>(), 5, batch.mutable_view().as<std::int32_t>());
  std::copy_n(random_ids(3, 1, 5, 512).view().as<std::int32_t>(), 5,
              batch.mutable_view().as<std::int32_t>() + 5);
  const Rows rows =
      generated(batch, concat(R"({"max_new_tokens": 6, "eos_token_id": )", story[0], "}"));
  EXPECT_EQ(rows[0], Tokens(rows[0].size(), story[0]));
}

TEST_F(GenerationOf, TheFirstTokensCannotEndBeforeTheMinimum) {
  const Tokens story = generated(prompt, R"({"max_new_tokens": 12})")[0];
  const std::string json =
      concat(R"({"max_new_tokens": 12, "min_new_tokens": 6, "eos_token_id": )", story[0], "}");
  Generation generation(model, inputs_of(prompt), options(json));
  for (std::size_t step = 0; !generation.done(); ++step) {
    const Generation::Step made = generation.next();
    if (step >= 6) continue;
    EXPECT_NE(made.tokens[0], story[0]);
    EXPECT_EQ(made.scores.f32()[story[0]], -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isfinite(made.logits.f32()[story[0]])) << "logits are the model's";
  }
}

TEST_F(GenerationOf, LengthsAreCountedAsUpstreamDoes) {
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 1})")[0].size(), 1u);
  EXPECT_EQ(generated(prompt, R"({"max_length": 9})")[0].size(), 4u);
  EXPECT_EQ(generated(prompt, R"({"max_length": 9, "max_new_tokens": 7})")[0].size(), 7u);
  EXPECT_EQ(generated(prompt, "{}")[0].size(), 20u) << "20 new tokens are the usual";
  const Tensor long_prompt = random_ids(5, 1, 500, 512);
  EXPECT_EQ(generated(long_prompt, "{}")[0].size(), 20u) << "rotary positions go on behind 512";
}

TEST_F(GenerationOf, ScoresAreProcessedAndLogitsAreNot) {
  Generation sampled(
      model, inputs_of(prompt),
      options(R"({"max_new_tokens": 1, "do_sample": true, "top_k": 3, "temperature": 0.5})"));
  const Generation::Step step = sampled.next();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    const float score = step.scores.f32()[i];
    if (std::isinf(score)) continue;
    ++kept;
    EXPECT_EQ(score, step.logits.f32()[i] / 0.5f);
  }
  EXPECT_EQ(kept, 3u);
  EXPECT_EQ(step.logits.shape(), (Shape{1, 512}));
}

TEST_F(GenerationOf, AStepCanBeTracedAndTheTokensStay) {
  const Rows expected = generated(prompt, R"({"max_new_tokens": 5})");
  Generation generation(model, inputs_of(prompt), options(R"({"max_new_tokens": 5})"));
  for (std::size_t step = 0; step < 5; ++step) {
    Trace trace;
    trace.capture("*hook_pattern");
    EXPECT_EQ(generation.next(&trace).tokens[0], expected[0][step]);
    ASSERT_EQ(trace.captured().size(), 5u);
    EXPECT_EQ(trace.captured()[0].value.shape(),
              step == 0 ? (Shape{1, 8, 5, 5}) : (Shape{1, 8, 1, 5 + step}));
  }
  EXPECT_TRUE(generation.done());
  EXPECT_EQ(generation.cache().length(), 9u);
}

TEST_F(GenerationOf, AStepAfterTheLastIsRefused) {
  Generation generation(model, inputs_of(prompt), options(R"({"max_new_tokens": 1})"));
  EXPECT_TRUE(generation.next().done);
  expect_error(ErrorCode::invalid_argument, {"generate", "complete"}, [&] { generation.next(); });
}

// As in transformers: padding tokens of a prompt without a mask are masked, also at the end, unless they are
// end tokens; ambiguous cases give a warning.
TEST_F(GenerationOf, PaddingWithoutAMaskWarnsAndGoesOn) {
  const Fixture fixture("stories260K");
  const auto cases = fixture.of_op("causal_lm_unmasked");
  ASSERT_EQ(cases.size(), 4u);
  for (const Case* reference : cases) {
    SCOPED_TRACE(reference->name());
    const Json& options = reference->options();
    GenerationConfig config;
    config.max_new_tokens = static_cast<std::size_t>(options.find("max_new_tokens")->number());
    config.pad_token_id = static_cast<std::int32_t>(options.find("pad_token_id")->number());
    for (const Json& end : options.find("eos_token_id")->array()) {
      config.eos_token_ids.push_back(static_cast<std::int32_t>(end.number()));
    }
    const Tensor ids = reference->int32_input("input_ids");
    Generation generation(model, inputs_of(ids), config);
    while (!generation.done()) generation.next();
    const Tensor made = generation.sequences();
    const auto* first = made.view().as<std::int32_t>();
    EXPECT_EQ((Tokens{first, first + made.elements()}), reference->int32_output("sequences"));
    const Json& warning = reference->member("warning");
    const char* told = generation.warning().code;
    EXPECT_EQ(told == nullptr ? "" : told, warning.is_null() ? "" : warning.string());
    const std::string& message = generation.warning().message;
    EXPECT_EQ(message.find("pad_token_id 0") != std::string::npos, !warning.is_null());
  }
}

TEST_F(GenerationOf, RequestsThatCannotBeMetAreRefused) {
  const auto refuse = [&](ErrorCode code, const std::vector<std::string>& parts, const Tensor& ids,
                          const std::string& json, const Tensor* mask = nullptr) {
    expect_error(code, parts, [&] { generated(ids, json, mask); });
  };
  constexpr auto kArgument = ErrorCode::invalid_argument, kShape = ErrorCode::shape_mismatch;
  refuse(kArgument, {"generate", "5 prompt", "1048573 new", "1048576 positions"}, prompt,
         R"({"max_new_tokens": 1048573})");
  refuse(kArgument, {"max_new_tokens", "at least 1"}, prompt, R"({"max_new_tokens": 0})");
  refuse(kArgument, {"prompt has 5", "max_length allows 5"}, prompt, R"({"max_length": 5})");
  refuse(kArgument, {"positions"}, prompt, R"({"max_new_tokens": 2147483647})");
  refuse(kShape, {"generate", "input_ids", "[0, 5]"}, Tensor::zeros({0, 5}, DType::i32), "{}");
  refuse(kShape, {"generate", "input_ids", "[5]"}, Tensor::zeros({5}, DType::i32), "{}");
  refuse(ErrorCode::dtype_mismatch, {"int32"}, Tensor::zeros({1, 5}), "{}");
  refuse(kArgument, {"embedding", "512"}, tokens({1, 512}), "{}");
  refuse(kArgument, {"bad_words_ids", "token 512"}, prompt, R"({"bad_words_ids": [[512]]})");
  refuse(kArgument, {"num_return_sequences"}, prompt, R"({"num_return_sequences": 2})");
  const Tensor short_mask = Tensor::zeros({1, 4}, DType::u8);
  refuse(kShape, {"attention_mask", "[1, 4]", "[1, 5]"}, prompt, "{}", &short_mask);
  Tensor right_padded({1, 5}, DType::u8);
  for (std::size_t i = 0; i < 5; ++i) right_padded.mutable_view().as<std::uint8_t>()[i] = i < 4;
  refuse(kArgument, {"sequence 0", "pad on the left"}, prompt, "{}", &right_padded);
  const Tensor float_mask = Tensor::zeros({1, 5});
  refuse(ErrorCode::dtype_mismatch, {"float32", "uint8"}, prompt, "{}", &float_mask);
}

TEST_F(GenerationOf, OtherInputsAreRefusedByName) {
  const Tensor ids = Tensor::zeros({1, 5}, DType::i32), image = Tensor::zeros({1, 3, 8, 8});
  for (const InputName& name : kInputNames) {
    if (name.name == "input_ids" || name.name == "attention_mask") continue;
    ModelInputs inputs = inputs_of(prompt);
    inputs.*name.member = name.dtype == DType::i32 ? ids.view() : image.view();
    const bool positions = name.name.find("position_ids") != std::string_view::npos;
    expect_error(ErrorCode::unsupported, {positions ? "position_ids" : std::string(name.name)},
                 [&] { Generation(model, inputs, options("{}")); });
  }
}

TEST_F(GenerationOf, WithoutAPromptTheBosTokenBegins) {
  const std::string json = R"({"max_new_tokens": 5, "bos_token_id": 1})";
  Generation generation(model, ModelInputs(), options(json));
  EXPECT_EQ(run(generation), generated(tokens({1}), json));
  expect_error(ErrorCode::invalid_argument, {"input_ids", "bos_token_id"},
               [&] { Generation(model, ModelInputs(), options("{}")); });
}

// Padding tokens in a prompt without a mask are masked unless they are end tokens as well.
TEST_F(GenerationOf, AMissingMaskIsGuessedAsUpstreamDoes) {
  const Tensor padded = tokens({0, 0, 1, 403, 407, 261, 378});
  Tensor mask = Tensor::zeros({1, 7}, DType::u8);
  std::fill_n(mask.mutable_view().as<std::uint8_t>() + 2, 5, std::uint8_t{1});
  const std::string json = R"({"max_new_tokens": 12, "pad_token_id": 0, "eos_token_id": )";
  EXPECT_EQ(generated(padded, json + "2}"), generated(padded, json + "2}", &mask));
  EXPECT_EQ(generated(padded, json + "2}"), generated(prompt, json + "2}"));
  Generation read(model, inputs_of(padded), options(json + "0}"));
  Generation masked(model, inputs_of(padded, &mask), options(json + "0}"));
  EXPECT_NE(read.next().logits.f32()[0], masked.next().logits.f32()[0]) << "0 ends sequences";
}

TEST_F(GenerationOf, SeveralSequencesAreDrawnForEachPrompt) {
  const std::string json = R"({"max_new_tokens": 15, "do_sample": true, "seed": 8)";
  const Rows three = generated(prompt, json + R"(, "num_return_sequences": 3})");
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0], generated(prompt, json + "}")[0]);
  EXPECT_NE(three[1], three[0]);
  EXPECT_NE(three[2], three[1]);
  // Samples of three rows with the same prompt.
  Tensor batch({3, 5}, DType::i32);
  for (std::size_t i = 0; i < 15; ++i) {
    batch.mutable_view().as<std::int32_t>()[i] = prompt.view().as<std::int32_t>()[i % 5];
  }
  EXPECT_EQ(three, generated(batch, json + "}"));
}

TEST_F(GenerationOf, EachAdvanceIsOneLayer) {
  Generation generation(model, inputs_of(prompt), options(R"({"max_new_tokens": 3})"));
  const Rows expected = generated(prompt, R"({"max_new_tokens": 3})");
  std::size_t layers = 0;
  Tokens written;
  while (!generation.done()) {
    ++layers;
    if (generation.advance()) written.push_back(generation.step().tokens[0]);
  }
  EXPECT_EQ(written, expected[0]);
  EXPECT_GE(layers, 3 * model.config().n_layers());
}

// A beam's score is the sum of the log-probabilities that the forward pass gives its tokens.
TEST_F(GenerationOf, BeamScoresAreThoseOfTheForwardPass) {
  Generation generation(model, inputs_of(prompt), options(R"({"max_new_tokens": 12, "num_beams": 4,
                        "num_return_sequences": 4})"));
  run(generation);
  const Tensor sequences = generation.sequences();
  ASSERT_EQ(sequences.shape(), (Shape{4, 17}));
  for (std::size_t row = 0; row < 4; ++row) {
    const Tensor ids = columns(sequences, row, 0, 17);
    Tensor logits = forward(model, ids);
    double sum = 0.0;
    for (std::size_t t = 5; t < 17; ++t) {
      const Scores scores(logits.f32() + (t - 1) * 512, 512);
      normalize(scores);
      sum += scores[static_cast<std::size_t>(ids.view().as<std::int32_t>()[t])];
    }
    // Twelve float sums of about 1 each, divided by twelve.
    EXPECT_NEAR(generation.sequences_scores().f32()[row], sum / 12.0, 1e-5);
  }
}

TEST_F(GenerationOf, ASequenceCanBeEndedFromOutside) {
  Tensor batch({2, 5}, DType::i32);
  std::copy_n(prompt.view().as<std::int32_t>(), 5, batch.mutable_view().as<std::int32_t>());
  std::copy_n(random_ids(3, 1, 5, 512).view().as<std::int32_t>(), 5,
              batch.mutable_view().as<std::int32_t>() + 5);
  Generation generation(model, inputs_of(batch),
                        options(R"({"max_new_tokens": 9, "pad_token_id": 7})"));
  expect_error(ErrorCode::invalid_argument, {"no sequence 0"}, [&] { generation.end(0); });
  generation.next();
  generation.end(0);
  EXPECT_EQ(generation.next().tokens[0], 7);
  EXPECT_FALSE(generation.done());
  generation.end(1);
  EXPECT_TRUE(generation.done());
  expect_error(ErrorCode::invalid_argument, {"no sequence 2"}, [&] { generation.end(2); });
}

TEST_F(GenerationOf, TimeThatIsUpEndsIt) {
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 50, "max_time": 0})")[0].size(), 1u);
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 50, "max_time": 1000})")[0].size(), 50u);
  Generation beams(model, inputs_of(prompt), options(R"({"num_beams": 2, "max_time": 0})"));
  EXPECT_TRUE(beams.next().done);
  EXPECT_EQ(beams.sequences().shape(), (Shape{1, 6}));
}

TEST_F(GenerationOf, WhatASinglePassTakesIsRefused) {
  const Tensor embeds({1, 2, 64});
  const auto refuse = [&](const auto& change) {
    ModelInputs inputs = inputs_of(prompt);
    change(inputs);
    expect_error(ErrorCode::unsupported, {"generate: takes no"},
                 [&] { Generation(model, inputs, options("{}")); });
  };
  refuse([](ModelInputs& inputs) { inputs.stop_at_layer = 1; });
  refuse([](ModelInputs& inputs) { inputs.start_at_layer = 1; });
  refuse([](ModelInputs& inputs) { inputs.logits_to_keep = {0}; });
  refuse([](ModelInputs& inputs) { inputs.interpolate_pos_encoding = true; });
  refuse([&](ModelInputs& inputs) { inputs.residual = embeds.view(); });
  refuse([&](ModelInputs& inputs) { inputs.decoder_inputs_embeds = embeds.view(); });
}

}  // namespace
}  // namespace clearformer::test
