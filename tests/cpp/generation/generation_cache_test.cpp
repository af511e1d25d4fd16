// Generations that start with, keep or return keys and values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "clearformer/generation/generation.h"
#include "clearformer/loading/load_model.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/model_runs.h"
#include "support/story_generations.h"

namespace clearformer::test {
namespace {

TEST_F(GenerationOf, AnAbandonedStepLeavesTheCacheAsItWas) {
  KeyValueCache cache = model.make_cache();
  ModelInputs inputs = inputs_of(prompt);
  inputs.cache = &cache;
  const std::string json = R"({"max_new_tokens": 6})";
  const TokenIds expected = generated(prompt, json)[0];
  {
    Generation generation(model, inputs, options(json));
    EXPECT_EQ(generation.next().tokens[0], expected[0]);
    EXPECT_EQ(generation.next().tokens[0], expected[1]);
    EXPECT_EQ(cache.length(), 6u);
    generation.advance();
    generation.advance();
  }
  EXPECT_EQ(cache.length(), 6u);
  // A new generation continues from there as if uninterrupted.
  TokenIds all = {1, 403, 407, 261, 378};
  all.insert(all.end(), expected.begin(), expected.begin() + 2);
  const Tensor longer = tokens(all);
  inputs.input_ids = longer.view();
  Generation rest(model, inputs, options(R"({"max_new_tokens": 4})"));
  EXPECT_EQ(run(rest)[0], TokenIds(expected.begin() + 2, expected.end()));
}

TEST_F(GenerationOf, ACacheOfTheFirstPositionsGivesTheSameBits) {
  const std::string json = R"({"max_new_tokens": 8})";
  Generation whole(model, inputs_of(prompt), options(json));
  const Generation::Step first = whole.next();
  const std::vector<TokenIds> rest = run(whole);
  for (const std::size_t known : {1u, 3u, 4u}) {
    KeyValueCache cache = model.make_cache();
    forward(model, columns(prompt, 0, 0, known), cache);
    ModelInputs inputs = inputs_of(prompt);
    inputs.cache = &cache;
    Generation generation(model, inputs, options(json));
    expect_same_bits(concat(known, " positions known"), generation.next().logits, first.logits);
    EXPECT_EQ(run(generation), rest);
    EXPECT_EQ(&generation.cache(), &cache);
    EXPECT_EQ(cache.length(), 12u);
  }
}

TEST_F(GenerationOf, ACacheThatHoldsTheWholePromptIsRefused) {
  KeyValueCache cache = model.make_cache();
  forward(model, prompt, cache);
  ModelInputs inputs = inputs_of(prompt);
  inputs.cache = &cache;
  expect_error(ErrorCode::invalid_argument, {"past_key_values hold 5", "prompt has 5", "crop"},
               [&] { Generation(model, inputs, options("{}")); });
  cache.crop(4);
  Generation generation(model, inputs, options(R"({"max_new_tokens": 2})"));
  EXPECT_EQ(run(generation), generated(prompt, R"({"max_new_tokens": 2})"));
}

TEST_F(GenerationOf, ACacheThatAnotherCallUsesMeanwhileIsRefused) {
  KeyValueCache cache = model.make_cache();
  ModelInputs inputs = inputs_of(prompt);
  inputs.cache = &cache;
  Generation generation(model, inputs, options(R"({"max_new_tokens": 4})"));
  generation.next();
  forward(model, tokens({300}), cache);
  expect_error(ErrorCode::invalid_argument, {"held 5", "hold 6", "another call"},
               [&] { generation.next(); });
  cache.crop(5);
  run(generation);
  EXPECT_EQ(generation.sequences().dim(1), 9u);
}

// They would overwrite each other's activations: alternate steps are sound, alternate layers are refused.
TEST_F(GenerationOf, StepsOfTwoGenerationsDoNotInterleave) {
  const Tensor other = tokens({1, 300, 7, 261, 378});
  Generation first(model, inputs_of(prompt), options(R"({"max_new_tokens": 4})"));
  Generation second(model, inputs_of(other), options(R"({"max_new_tokens": 4})"));
  first.advance();
  second.advance();
  for (Generation* generation : {&first, &second}) {
    expect_error(ErrorCode::invalid_argument, {"another pass of this model"},
                 [&] { generation->advance(); });
  }
  first.next();
  second.next();
  run(first);
  run(second);
  Generation alone(model, inputs_of(prompt), options(R"({"max_new_tokens": 4})"));
  run(alone);
  const Tensor found = first.sequences(), expected = alone.sequences();
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.view().bytes()), 0);
}

TEST_F(GenerationOf, TheCacheOfAGenerationCanBeCroppedAndReused) {
  Generation first(model, inputs_of(prompt), options(R"({"max_new_tokens": 10})"));
  run(first);
  first.cache().crop(3);
  const Tensor other = tokens({1, 403, 407, 300, 301});
  ModelInputs inputs = inputs_of(other);
  inputs.cache = &first.cache();
  const std::string json = R"({"max_new_tokens": 10})";
  Generation second(model, inputs, options(json));
  EXPECT_EQ(run(second), generated(other, json));
}

TEST_F(GenerationOf, BeamsGoOnInACacheAsWithoutOne) {
  const std::string json = R"({"max_new_tokens": 10, "num_beams": 3, "num_return_sequences": 3})";
  Generation whole(model, inputs_of(prompt), options(json));
  run(whole);
  KeyValueCache cache = model.make_cache();
  forward(model, columns(prompt, 0, 0, 4), cache);
  ModelInputs inputs = inputs_of(prompt);
  inputs.cache = &cache;
  Generation generation(model, inputs, options(json));
  run(generation);
  expect_same_bits("scores", generation.sequences_scores(), whole.sequences_scores());
  EXPECT_EQ(cache.batch(), 3u);
}

// Beyond the 8 positions that it was first trained on Phi-3 has other angles for all positions, also for cached keys.
TEST(GenerationOfPhi3, GivesWhatPassesWithoutACacheGive) {
  const auto model = from_pretrained(fixture_path("models/phi3/mini"));
  const Tensor prompt = tokens({9, 20, 31, 42});
  const std::size_t count = 9;
  const std::string json = R"({"max_new_tokens": 9, "eos_token_id": null)";
  EXPECT_EQ(generate(*model, prompt, options(json + "}"))[0],
            greedy_without_cache(*model, prompt.clone(), count));
  Generation search(*model, inputs_of(prompt),
                    options(json + R"(, "num_beams": 3, "length_penalty": 0})"));
  run(search);
  const Tensor found = search.sequences();
  double sum = 0.0;
  for (std::size_t length = prompt.dim(1); length < found.dim(1); ++length) {
    const Tensor logits = forward(*model, columns(found, 0, 0, length));
    const std::size_t words = logits.dim(2);
    const float* last = logits.f32() + (length - 1) * words;
    double powers = 0.0;
    for (std::size_t word = 0; word < words; ++word) powers += std::exp(double{last[word]});
    sum += last[found.view().as<std::int32_t>()[length]] - std::log(powers);
  }
  // Nine sums below 32 and nine logarithms, each rounded to float: by 1e-6 at most
  EXPECT_NEAR(search.sequences_scores().f32()[0], sum, 2e-5);
}

// Paused before its tokens are chosen, with rows for several sequences of a prompt.
TEST_F(GenerationOf, AHeldStepThatIsAbandonedLeavesTheCacheAsItWas) {
  const std::string json =
      R"({"max_new_tokens": 4, "do_sample": true, "num_return_sequences": 3, "seed": 5})";
  const std::vector<TokenIds> expected = generated(prompt, json);
  for (const std::size_t known : {0u, 3u}) {
    KeyValueCache cache = model.make_cache();
    if (known != 0) forward(model, columns(prompt, 0, 0, known), cache);
    ModelInputs inputs = inputs_of(prompt);
    inputs.cache = &cache;
    {
      Generation paused(model, inputs, options(json));
      paused.hold_scores();
      while (!paused.advance()) continue;
      EXPECT_TRUE(paused.held());
      EXPECT_EQ(cache.length(), 5u);
      paused.abandon();
      EXPECT_FALSE(paused.held());
      EXPECT_EQ(cache.length(), known);
      while (!paused.advance()) continue;  // again, and its end abandons it
    }
    EXPECT_EQ(cache.length(), known);
    Generation generation(model, inputs, options(json));
    EXPECT_EQ(run(generation), expected);
  }
}

TEST_F(GenerationOf, AnAbandonedStepIsRepeated) {
  const std::string json = R"({"max_new_tokens": 5, "num_beams": 3})";
  Generation usual(model, inputs_of(prompt), options(json));
  run(usual);
  Generation paused(model, inputs_of(prompt), options(json));
  paused.hold_scores();
  while (!paused.done()) {
    while (!paused.advance()) continue;
    paused.abandon();
    paused.next();
  }
  expect_same_bits("scores", paused.sequences_scores(), usual.sequences_scores());
}

TEST_F(GenerationOf, ScoresOfAnotherShapeOrTypeAreRefused) {
  for (const bool of_another_type : {false, true}) {
    Generation generation(model, inputs_of(prompt), options(R"({"max_new_tokens": 3})"));
    generation.hold_scores();
    while (!generation.advance()) continue;
    Tensor& scores = generation.step().scores;
    const std::size_t vocabulary = scores.dim(1);
    scores =
        of_another_type ? Tensor(scores.shape(), DType::i32) : Tensor::zeros({1, vocabulary - 1});
    expect_error(of_another_type ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
                 {of_another_type ? "int32" : "scores of shape"}, [&] { generation.advance(); });
  }
}

TEST_F(GenerationOf, TheStepThatNextReturnsIsItsCallers) {
  Generation generation(model, inputs_of(prompt), options(R"({"max_new_tokens": 3})"));
  EXPECT_EQ(generation.next().tokens.size(), 1u);
  EXPECT_TRUE(generation.step().tokens.empty());
  EXPECT_TRUE(generation.step().logits.empty());
}

}  // namespace
}  // namespace clearformer::test
