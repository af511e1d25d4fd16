// Generation with an encoder: its pass, the decoder's initial tokens, and the cache of both.
#include <gtest/gtest.h>

#include "clearformer/loading/load_model.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/generations.h"
#include "support/model_runs.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

class EncoderDecoderGeneration : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<TokenIds> generated(const ModelInputs& inputs, const std::string& json) {
    Generation generation(*model, inputs, options(json));
    return run(generation);
  }
  std::unique_ptr<Model> model = from_pretrained(fixture_path(GetParam()));
  Tensor source = random_ids(1, 1, 7, model->config().d_vocab());
  std::int32_t start = *model->config().decoder_start_token_id;
};

TEST_P(EncoderDecoderGeneration, BeginsWithTheStartToken) {
  const std::string json = R"({"max_new_tokens": 6})";
  Generation usual(*model, inputs_of(source), options(json));
  EXPECT_EQ(usual.sequences().view().as<std::int32_t>()[0], start);
  const std::vector<TokenIds> expected = run(usual);
  EXPECT_EQ(usual.sequences().shape(), (Shape{1, 7}));

  ModelInputs inputs = inputs_of(source);
  const Tensor first = tokens({start});
  inputs.decoder_input_ids = first.view();
  EXPECT_EQ(generated(inputs, json), expected) << "the start token alone is the usual prompt";

  // Another start token; bos is not used, since the model has one.
  const std::vector<TokenIds> other =
      generated(inputs_of(source), R"({"max_new_tokens": 6, "decoder_start_token_id": 5})");
  const Tensor five = tokens({5});
  inputs.decoder_input_ids = five.view();
  EXPECT_EQ(generated(inputs, R"({"max_new_tokens": 6, "decoder_start_token_id": 5})"), other);
}

TEST_P(EncoderDecoderGeneration, APromptWithoutTheStartTokenGetsIt) {
  const std::string json = R"({"max_new_tokens": 5})";
  ModelInputs inputs = inputs_of(source);
  const Tensor without = tokens({8, 9}), with = tokens({start, 8, 9});
  inputs.decoder_input_ids = without.view();
  Generation generation(*model, inputs, options(json));
  const std::vector<TokenIds> rows = run(generation);
  EXPECT_EQ(generation.sequences().shape(), (Shape{1, 8}));
  inputs.decoder_input_ids = with.view();
  EXPECT_EQ(generated(inputs, json), rows);
}

// The mask is that of the prompt as it was given.
TEST_P(EncoderDecoderGeneration, TheStartTokenThatAPromptGetsIsNotMasked) {
  const std::string json = R"({"max_new_tokens": 5})";
  const Tensor without = tokens({8, 9, 7}), with = tokens({start, 8, 9, 7});
  Tensor given({1, 3}, DType::u8), whole({1, 4}, DType::u8);
  const std::uint8_t flags[] = {1, 0, 1, 1};
  std::copy_n(flags + 1, 3, given.mutable_view().as<std::uint8_t>());
  std::copy_n(flags, 4, whole.mutable_view().as<std::uint8_t>());
  ModelInputs shorter = inputs_of(source), longer = inputs_of(source);
  shorter.decoder_input_ids = without.view();
  shorter.decoder_attention_mask = given.view();
  longer.decoder_input_ids = with.view();
  longer.decoder_attention_mask = whole.view();
  Generation begun(*model, shorter, options(json)), complete(*model, longer, options(json));
  expect_same_bits("logits", begun.next().logits, complete.next().logits);
  EXPECT_EQ(run(begun), run(complete));
  longer.decoder_attention_mask.reset();
  Generation unmasked(*model, longer, options(json));
  EXPECT_NE(unmasked.next().logits.f32()[0],
            Generation(*model, shorter, options(json)).next().logits.f32()[0]);
  shorter.decoder_attention_mask = whole.view();
  expect_error(ErrorCode::shape_mismatch, {"decoder_attention_mask", "[1, 4]", "[1, 3]"},
               [&] { generated(shorter, json); });
}

// A batch with left-padded prompts: no query attends to masked positions.
TEST_P(EncoderDecoderGeneration, PromptsMayBePaddedOnTheLeft) {
  const Tensor sources = random_ids(5, 2, 7, model->config().d_vocab());
  ModelInputs inputs = inputs_of(sources);
  const auto generated_with = [&](std::int32_t padding) {
    Tensor target({2, 3}, DType::i32), mask({2, 3}, DType::u8);
    const std::int32_t ids[] = {start, 8, 9, padding, start, 8};
    std::copy_n(ids, 6, target.mutable_view().as<std::int32_t>());
    for (std::size_t i = 0; i < 6; ++i) mask.mutable_view().as<std::uint8_t>()[i] = i != 3;
    inputs.decoder_input_ids = target.view();
    inputs.decoder_attention_mask = mask.view();
    return generated(inputs, R"({"max_new_tokens": 6})");
  };
  EXPECT_EQ(generated_with(20), generated_with(30));
}

// The logits of each step equal those of a pass of the whole model over all tokens so far.
TEST_P(EncoderDecoderGeneration, LogitsAreThoseOfWholePasses) {
  Generation generation(*model, inputs_of(source), options(R"({"max_new_tokens": 8})"));
  TokenIds written = {start};
  while (!generation.done()) {
    const Generation::Step step = generation.next();
    ModelInputs inputs = inputs_of(source);
    const Tensor target = tokens(written);
    inputs.decoder_input_ids = target.view();
    inputs.logits_to_keep = {-1};
    const ModelOutputs outputs = model->forward(inputs);
    Tensor whole = outputs.tensors.back().second.clone();
    whole.reshape(step.logits.shape());
    expect_same_bits(concat("token ", written.size()), step.logits, whole);
    written.push_back(step.tokens[0]);
  }
}

TEST_P(EncoderDecoderGeneration, TheFirstStepsTraceSeesTheEncoder) {
  Generation generation(*model, inputs_of(source), options(R"({"max_new_tokens": 2})"));
  for (const bool first : {true, false}) {
    Trace trace;
    trace.capture("*hook_pattern");
    generation.next(&trace);
    std::size_t encoder = 0, decoder = 0, cross = 0;
    for (const Trace::Captured& entry : trace.captured()) {
      encoder += entry.name.rfind("encoder.", 0) == 0;
      decoder += entry.name.rfind("decoder.", 0) == 0;
      cross += entry.name.find("cross_attn") != std::string::npos;
    }
    EXPECT_EQ(encoder, first ? model->config().tower.stack.layers : 0u);
    EXPECT_EQ(decoder, 2 * model->config().n_layers());
    EXPECT_EQ(cross, model->config().n_layers());
  }
}

TEST_P(EncoderDecoderGeneration, LeavingTheEncoderLeavesNoMemory) {
  KeyValueCache cache = model->make_cache();
  ModelInputs inputs = inputs_of(source);
  inputs.cache = &cache;
  const std::string json = R"({"max_new_tokens": 4, "num_beams": 2})";
  {
    Generation generation(*model, inputs, options(json));
    EXPECT_FALSE(generation.advance());
  }
  EXPECT_FALSE(cache.has_memory());
  EXPECT_EQ(cache.length(), 0u);
  Generation again(*model, inputs, options(json));
  again.advance();
  again.abandon();
  const std::vector<TokenIds> tokens = run(again);
  Generation other(*model, inputs_of(source), options(json));
  EXPECT_EQ(tokens, run(other));
  expect_same_bits("scores", again.sequences_scores(), other.sequences_scores());
}

// The cache of a generation holds the memory: it continues without the source.
TEST_P(EncoderDecoderGeneration, GoesOnWithItsCache) {
  const TokenIds expected = generated(inputs_of(source), R"({"max_new_tokens": 9})")[0];
  Generation first(*model, inputs_of(source), options(R"({"max_new_tokens": 4})"));
  run(first);
  EXPECT_TRUE(first.cache().has_memory());
  const Tensor written = first.sequences();
  ModelInputs inputs = inputs_of(source);
  inputs.decoder_input_ids = written.view();
  inputs.cache = &first.cache();
  EXPECT_EQ(generated(inputs, R"({"max_new_tokens": 5})")[0],
            TokenIds(expected.begin() + 4, expected.end()));
}

TEST_P(EncoderDecoderGeneration, EveryBeamSeesItsOwnSource) {
  // n-grams of the source are excluded: with 1 no token of a sequence's own source occurs.
  Tensor batch = random_ids(2, 3, 7, model->config().d_vocab());
  Generation generation(*model, inputs_of(batch), options(R"({"max_new_tokens": 8, "num_beams": 3,
                                    "encoder_no_repeat_ngram_size": 1})"));
  run(generation);
  const Tensor sequences = generation.sequences();
  ASSERT_EQ(sequences.dim(0), 3u);
  for (std::size_t row = 0; row < 3; ++row) {
    const std::int32_t* first = batch.view().as<std::int32_t>() + row * 7;
    for (std::size_t t = 1; t < sequences.dim(1); ++t) {
      const std::int32_t token = sequences.view().as<std::int32_t>()[row * sequences.dim(1) + t];
      EXPECT_EQ(std::find(first, first + 7, token), first + 7) << "row " << row << " token " << t;
    }
  }
}

TEST_P(EncoderDecoderGeneration, WhatItCannotReadIsRefused) {
  const auto refuse = [&](ErrorCode code, const std::vector<std::string>& parts,
                          const ModelInputs& inputs) {
    expect_error(code, parts, [&] { generated(inputs, R"({"max_new_tokens": 2})"); });
  };
  refuse(ErrorCode::invalid_argument, {"generate", "encoder"}, ModelInputs());
  ModelInputs inputs = inputs_of(source);
  inputs.decoder_position_ids = source.view();
  refuse(ErrorCode::unsupported, {"position_ids"}, inputs);
  inputs = inputs_of(source);
  inputs.token_type_ids = source.view();
  refuse(ErrorCode::unsupported, {"token_type_ids"}, inputs);
  inputs = inputs_of(source);
  const Tensor mask = Tensor::zeros({1, 1}, DType::u8);
  inputs.decoder_attention_mask = mask.view();
  refuse(ErrorCode::invalid_argument, {"decoder_attention_mask", "decoder_input_ids"}, inputs);
  inputs = inputs_of(source);
  const Tensor two = random_ids(4, 2, 3, model->config().d_vocab());
  inputs.decoder_input_ids = two.view();
  refuse(ErrorCode::shape_mismatch, {"sequences"}, inputs);
}

// A feature extractor marks the frames of sound; transformers takes the mask, and its encoder ignores it.
TEST(GenerationFromSound, IgnoresTheMaskOfItsFrames) {
  const auto whisper = from_pretrained(fixture_path("models/whisper/odd"));
  const Tensor features = Random(4).tensor({1, 8, 40});
  const Tensor mask = Tensor::zeros({1, 40}, DType::u8), prompt = tokens({1, 4});
  ModelInputs plain;
  plain.input_features = features.view();
  ModelInputs masked = plain;
  masked.attention_mask = mask.view();
  const auto text = [&](const ModelInputs& inputs) {
    Generation generation(*whisper, inputs, options(R"({"max_new_tokens": 6})"));
    return run(generation);
  };
  EXPECT_EQ(text(masked), text(plain));
  plain.decoder_input_ids = masked.decoder_input_ids = prompt.view();
  expect_same_bits("logits", whisper->forward(masked).at("logits"),
                   whisper->forward(plain).at("logits").clone());
  KeyValueCache cache = whisper->make_cache();
  masked.cache = &cache;
  whisper->forward(masked);
  masked.input_features.reset();
  expect_error(ErrorCode::unsupported, {"leave out its inputs"}, [&] { whisper->forward(masked); });
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, EncoderDecoderGeneration,
                         ::testing::Values("models/bart/odd", "models/t5/even"),
                         [](const auto& checkpoint) {
                           return std::string(checkpoint.param).substr(7, 2) == "ba" ? "bart"
                                                                                     : "t5";
                         });

}  // namespace
}  // namespace clearformer::test
