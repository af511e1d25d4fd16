// Random Llama checkpoints of every kind (odd sizes, tied, fp16, bf16, sharded, biases, rope scalings)
// against transformers: logits, hidden states, attention maps, every hook point, greedy tokens, padding.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

const Fixture& references() {
  static const Fixture fixture("llama_tiny");
  return fixture;
}

std::string checkpoint_of(const Case& reference) { return reference.option("checkpoint").string(); }

class LlamaTiny : public ::testing::TestWithParam<std::string> {};

// Both forms of the config: that of transformers 5 and, as in most files on the Hub, that of 4.
TEST_P(LlamaTiny, LogitsHiddenStatesAndAttentionsEqualTheReference) {
  const Case& reference = references().at(GetParam());
  for (const char* config : {"config.json", "config_v4.json"}) {
    SCOPED_TRACE(config);
    std::unique_ptr<Model> loaded = load_tiny(GetParam(), config);
    Model& model = *loaded;
    Trace trace;
    trace.capture("*");
    const Tensor logits = forward(model, reference.int32_input("input_ids"), &trace);
    EXPECT_EQ(reference.outputs().size(), 2 * model.config().n_layers() + 2);
    for (const std::string& name : reference.outputs()) {
      const Tensor& actual =
          name == "logits" ? logits : trace.at(hook_of_output(name, model.config().n_layers()));
      expect_close(name, actual, reference.output(name), kModelBound);
    }
  }
}

TEST_P(LlamaTiny, GreedyTokensEqualTheReferenceWithAndWithoutCache) {
  const Case& reference = references().at(GetParam() + "_greedy");
  std::unique_ptr<Model> loaded = load_tiny(GetParam());
  Model& model = *loaded;
  const Tensor ids = reference.int32_input("input_ids");
  const std::vector<std::int32_t> expected = reference.int32_output("new_ids");
  const auto rows = generate(model, ids, options(R"({"max_new_tokens": 24})"));
  ASSERT_EQ(rows.size(), ids.dim(0));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::vector<std::int32_t> wanted(expected.begin() + static_cast<int>(24 * row),
                                           expected.begin() + static_cast<int>(24 * (row + 1)));
    EXPECT_EQ(rows[row], wanted) << "row " << row;
    EXPECT_EQ(greedy_without_cache(model, columns(ids, row, 0, ids.dim(1)), 24), wanted);
  }
}

TEST_P(LlamaTiny, TheLastStepOfAGenerationHasTheReferenceLogits) {
  const Case& reference = references().at(GetParam() + "_greedy");
  std::unique_ptr<Model> loaded = load_tiny(GetParam());
  Model& model = *loaded;
  const Tensor ids = reference.int32_input("input_ids");
  Generation generation(model, inputs_of(ids), options(R"({"max_new_tokens": 24})"));
  Generation::Step step;
  while (!generation.done()) step = generation.next();
  expect_close("last_step_logits", step.logits, reference.output("last_step_logits"), kModelBound);
  expect_same_bits("greedy scores are the logits", step.scores, step.logits);
}

TEST_P(LlamaTiny, UsesEveryTensorOfTheCheckpoint) {
  EXPECT_EQ(load_tiny(GetParam())->unexpected_tensors(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, LlamaTiny,
                         ::testing::Values("odd", "tied", "fp16", "bf16", "sharded", "bias",
                                           "rope_llama3", "rope_linear"),
                         [](const auto& variant) { return variant.param; });

TEST(LlamaTinyInternals, EveryHookPointEqualsTheReference) {
  const auto cases = references().of_op("causal_lm_run_with_cache");
  ASSERT_EQ(cases.size(), 2u);
  for (const Case* reference : cases) {
    SCOPED_TRACE(reference->name());
    std::unique_ptr<Model> loaded = load_tiny(checkpoint_of(*reference));
    Model& model = *loaded;
    Trace trace;
    trace.capture("*");
    forward(model, reference->int32_input("input_ids"), &trace);
    std::set<std::string> ours, theirs = {"ln_final.hook_out"};
    for (const std::string& name : reference->outputs()) theirs.insert(name);
    for (const Trace::Captured& entry : trace.captured()) {
      EXPECT_TRUE(ours.insert(entry.name).second) << entry.name << " was offered twice";
      if (!reference->has_output(entry.name)) continue;
      expect_close(entry.name, entry.value, reference->output(entry.name), kModelBound);
    }
    EXPECT_EQ(ours, theirs);
  }
}

// Logits at padded positions are meaningless: compared where the mask is 1.
void expect_close_where_unmasked(const Tensor& logits, const Case& reference) {
  const Tensor mask = reference.uint8_input("attention_mask");
  Tensor compared = logits.clone();
  for (std::size_t position = 0; position < mask.elements(); ++position) {
    if (mask.view().as<std::uint8_t>()[position] != 0) continue;
    std::fill_n(compared.f32() + position * logits.dim(2), logits.dim(2), 0.0f);
  }
  expect_close("logits", compared, reference.output("logits"), kModelBound);
}

TEST(LlamaTinyPadding, BothSidesGiveTheReferenceLogits) {
  const auto cases = references().of_op("causal_lm_batch");
  ASSERT_EQ(cases.size(), 2u);
  for (const Case* reference : cases) {
    SCOPED_TRACE(reference->name());
    std::unique_ptr<Model> loaded = load_tiny(checkpoint_of(*reference));
    Model& model = *loaded;
    const Tensor ids = reference->int32_input("input_ids");
    const Tensor mask = reference->uint8_input("attention_mask");
    const Tensor positions = reference->int32_input("position_ids");
    const TensorView mask_view = mask, positions_view = positions;
    ModelInputs request;
    request.input_ids = ids;
    request.attention_mask = mask_view;
    request.position_ids = positions_view;
    expect_close_where_unmasked(logits_of(model, request), *reference);
  }
}

TEST(LlamaTinyPadding, LeftPaddedGenerationGivesTheReferenceTokens) {
  const Case& reference = references().at("odd_left_padding");
  std::unique_ptr<Model> loaded = load_tiny("odd");
  Model& model = *loaded;
  const Tensor mask = reference.uint8_input("attention_mask");
  const auto rows = generate(model, reference.int32_input("input_ids"),
                             options(R"({"max_new_tokens": 24})"), &mask);
  std::vector<std::int32_t> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  EXPECT_EQ(all, reference.int32_output("new_ids"));
}

}  // namespace
}  // namespace clearformer::test
