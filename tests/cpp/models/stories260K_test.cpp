// The bundled model against transformers: logits, every hook point, 200 greedy tokens, padded batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

class Stories260K : public ::testing::Test {
 protected:
  static const Case& reference(const std::string& name) {
    static const Fixture fixture("stories260K");
    return fixture.at(name);
  }
  std::unique_ptr<Model> loaded = load_stories();
  Model& model = *loaded;
};

TEST_F(Stories260K, LogitsHiddenStatesAndAttentionsEqualTheReference) {
  const Case& prompt = reference("prompt");
  Trace trace;
  trace.capture("*");
  const Tensor logits = forward(model, prompt.int32_input("input_ids"), &trace);
  EXPECT_EQ(prompt.outputs().size(), 2 * model.config().n_layers() + 2);
  for (const std::string& name : prompt.outputs()) {
    const Tensor& actual =
        name == "logits" ? logits : trace.at(hook_of_output(name, model.config().n_layers()));
    expect_close(name, actual, prompt.output(name), kModelBound);
  }
}

TEST_F(Stories260K, EveryHookPointEqualsTheReference) {
  const Case& prompt = reference("prompt_internals");
  Trace trace;
  trace.capture("*");
  forward(model, prompt.int32_input("input_ids"), &trace);
  std::set<std::string> ours, theirs = {"ln_final.hook_out"};
  for (const std::string& name : prompt.outputs()) theirs.insert(name);
  for (const Trace::Captured& entry : trace.captured()) {
    ours.insert(entry.name);
    if (!prompt.has_output(entry.name)) continue;
    expect_close(entry.name, entry.value, prompt.output(entry.name), kModelBound);
  }
  EXPECT_EQ(ours, theirs);
}

TEST_F(Stories260K, TwoHundredGreedyTokensEqualTheReference) {
  const Case& story = reference("greedy_200");
  const Tensor ids = story.int32_input("input_ids");
  Generation generation(model, inputs_of(ids), options(R"({"max_new_tokens": 200})"));
  std::vector<std::int32_t> written;
  Generation::Step step;
  while (!generation.done()) {
    step = generation.next();
    written.push_back(step.tokens.front());
  }
  EXPECT_EQ(written, story.int32_output("new_ids"));
  expect_close("last_step_logits", step.logits, story.output("last_step_logits"), kModelBound);
}

TEST_F(Stories260K, TheSameTokensComeWithoutACache) {
  const Case& story = reference("greedy_200");
  EXPECT_EQ(greedy_without_cache(model, story.int32_input("input_ids"), 200),
            story.int32_output("new_ids"));
}

// Rows whose mask is 0 are not compared: the reference stores zeros there.
Tensor zero_where_masked(const Tensor& logits, const Tensor& mask) {
  Tensor compared = logits.clone();
  for (std::size_t position = 0; position < mask.elements(); ++position) {
    if (mask.view().as<std::uint8_t>()[position] != 0) continue;
    std::fill_n(compared.f32() + position * logits.dim(2), logits.dim(2), 0.0f);
  }
  return compared;
}

TEST_F(Stories260K, PaddedBatchesGiveTheReferenceLogits) {
  for (const char* side : {"batch_left_padding", "batch_right_padding"}) {
    SCOPED_TRACE(side);
    const Case& batch = reference(side);
    const Tensor ids = batch.int32_input("input_ids"), mask = batch.uint8_input("attention_mask");
    const Tensor positions = batch.int32_input("position_ids");
    const TensorView mask_view = mask, positions_view = positions;
    ModelInputs request;
    request.input_ids = ids;
    request.attention_mask = mask_view;
    request.position_ids = positions_view;
    expect_close("logits", zero_where_masked(logits_of(model, request), mask),
                 batch.output("logits"), kModelBound);
  }
}

TEST_F(Stories260K, ALeftPaddedBatchWritesTheReferenceTokens) {
  const Case& batch = reference("batch_left_padding");
  const Tensor mask = batch.uint8_input("attention_mask");
  const auto rows =
      generate(model, batch.int32_input("input_ids"), options(R"({"max_new_tokens": 24})"), &mask);
  std::vector<std::int32_t> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  EXPECT_EQ(all, batch.int32_output("new_ids"));
}

}  // namespace
}  // namespace clearformer::test
