// What each head of an attention layer reads and adds: hook_q_input, hook_k_input, hook_v_input, hook_mlp_in and
// hook_result, computed only where a pattern names them, against the same formulas in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

TEST(OnRequest, APatternMustNameTheValue) {
  EXPECT_TRUE(selects("blocks.0.attn.hook_result", "blocks.0.attn.hook_result"));
  EXPECT_TRUE(selects("*hook_result", "blocks.0.attn.hook_result"));
  EXPECT_TRUE(selects("blocks.*.hook_q*", "blocks.0.hook_q_input"));
  EXPECT_FALSE(selects("*", "blocks.0.attn.hook_result"));
  EXPECT_FALSE(selects("blocks.0.*", "blocks.0.hook_mlp_in"));
  EXPECT_FALSE(selects("*.hook_*", "blocks.0.hook_k_input"));
  EXPECT_TRUE(selects("blocks.0.*", "blocks.0.attn.hook_z"));
}

class SeparateHeads : public ::testing::TestWithParam<const char*> {
 protected:
  SeparateHeads()
      : model(load_folder(fixture_path(concat("models/", GetParam())), "config.json")),
        ids(random_ids(3, 2, 6, 90)) {
    inputs.input_ids = ids.view();
  }

  Tensor captured(const std::string& hook, Trace&& trace = {}) {
    trace.capture(hook);
    model->forward(inputs, &trace);
    return trace.at(hook).clone();
  }

  std::unique_ptr<Model> model;
  Tensor ids;
  ModelInputs inputs;
};

// Changes what the last head reads; the copies of the others stay.
void change_last_head(std::string_view, const MutableTensorView& value) {
  const std::size_t heads = value.dim(2), width = value.dim(3);
  for (std::size_t i = 0; i < value.elements(); ++i) {
    if (i / width % heads == heads - 1) value.f32()[i] = 2.0f * value.f32()[i] + 0.5f;
  }
}

TEST_P(SeparateHeads, InputsAreCopiesOfTheStream) {
  const Tensor stream = captured("blocks.1.hook_resid_pre");
  for (const char* leaf : {"hook_q_input", "hook_k_input", "hook_v_input"}) {
    const Tensor copies = captured(concat("blocks.1.", leaf));
    const std::size_t heads = copies.dim(2), width = copies.dim(3);
    for (std::size_t i = 0; i < copies.elements(); ++i) {
      ASSERT_EQ(copies.f32()[i], stream.f32()[i / (heads * width) * width + i % width]) << leaf;
    }
  }
}

// Editing the input of one head equals editing the stream for the whole block and keeping the other heads' q.
TEST_P(SeparateHeads, AnEditedInputIsNormalizedAndProjectedForItsHeadAlone) {
  for (const char letter : {'q', 'k', 'v'}) {
    SCOPED_TRACE(letter);
    const std::string hook = concat("blocks.1.hook_", std::string(1, letter), "_input");
    const std::string projected = concat("blocks.1.attn.hook_", std::string(1, letter));
    Trace own, all;
    own.edit(hook, change_last_head);
    all.edit("blocks.1.hook_resid_pre", [](std::string_view, const MutableTensorView& value) {
      for (std::size_t i = 0; i < value.elements(); ++i) {
        value.f32()[i] = 2.0f * value.f32()[i] + 0.5f;
      }
    });
    const Tensor before = captured(projected), everywhere = captured(projected, std::move(all));
    own.capture(projected);
    const ModelOutputs edited = model->forward(inputs, &own);
    const Tensor& found = own.at(projected);
    const std::size_t heads = found.dim(2), width = found.dim(3);
    for (std::size_t i = 0; i < found.elements(); ++i) {
      const Tensor& expected = i / width % heads == heads - 1 ? everywhere : before;
      ASSERT_EQ(found.f32()[i], expected.f32()[i]) << i;
    }
    Trace replaced;
    Edit edit{projected, Edit::Op::replace};
    edit.value = found.clone();
    replaced.edit(std::move(edit));
    const ModelOutputs same = model->forward(inputs, &replaced);
    expect_same_bits("logits", edited.tensors[0].second, same.tensors[0].second);
  }
}

TEST_P(SeparateHeads, ResultsAddUpToTheOutput) {
  const Tensor results = captured("blocks.1.attn.hook_result");
  const Tensor output = captured("blocks.1.hook_attn_out");
  // The bias is what is left when z is 0.
  Trace silent;
  silent.edit({"blocks.1.attn.hook_z", Edit::Op::zero});
  const Tensor bias = captured("blocks.1.hook_attn_out", std::move(silent));
  const std::size_t heads = results.dim(2), width = results.dim(3);
  for (std::size_t i = 0; i < output.elements(); ++i) {
    double sum = bias.f32()[i], magnitude = std::abs(sum);
    for (std::size_t head = 0; head < heads; ++head) {
      const double part = results.f32()[(i / width * heads + head) * width + i % width];
      sum += part;
      magnitude += std::abs(part);
    }
    ASSERT_NEAR(output.f32()[i], sum, 64 * 6e-8 * magnitude + 1e-7) << i;
  }
}

TEST_P(SeparateHeads, AHeadWithoutResultIsAHeadWithoutZ) {
  Trace result, z;
  result.edit({"blocks.1.attn.hook_result", Edit::Op::zero, {1}});
  z.edit({"blocks.1.attn.hook_z", Edit::Op::zero, {1}});
  const Tensor left = captured("blocks.1.hook_attn_out", std::move(result));
  const Tensor right = captured("blocks.1.hook_attn_out", std::move(z));
  double largest = 0.0;
  for (std::size_t i = 0; i < left.elements(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(left.f32()[i]) - right.f32()[i]));
  }
  EXPECT_LT(largest, 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Folders, SeparateHeads,
                         ::testing::Values("gpt2/odd", "mistral/odd", "gpt_neox/odd", "phi/odd"),
                         [](const auto& folder) {
                           std::string name = folder.param;
                           return name.substr(0, name.find('/'));
                         });

TEST(SeparateHeadsErrors, EditsOfTheSharedNormAndOfASingleInputExcludeEachOther) {
  const auto model = load_folder(fixture_path("models/gpt2/odd"), "config.json");
  const Tensor ids = random_ids(3, 1, 4, 90);
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  Trace trace;
  trace.edit("blocks.0.hook_q_input", change_last_head);
  trace.edit({"blocks.0.ln1.hook_normalized", Edit::Op::zero});
  expect_error(ErrorCode::unsupported, {"hook_q_input", "ln1.hook_normalized"},
               [&] { model->forward(inputs, &trace); });
}

// The copy that the feed-forward network reads: the stream itself does not change.
TEST(FeedForwardInput, AnEditReachesTheFeedForwardNetworkAlone) {
  for (const char* folder : {"gpt2/odd", "phi/odd", "gpt_neox/odd"}) {
    SCOPED_TRACE(folder);
    const auto model = load_folder(fixture_path(concat("models/", folder)), "config.json");
    const Tensor ids = random_ids(3, 1, 4, 90);
    ModelInputs inputs;
    inputs.input_ids = ids.view();
    const std::vector<HookPoint>& hooks = model->hooks();
    const bool in_turn = std::any_of(hooks.begin(), hooks.end(), [](const HookPoint& hook) {
      return hook.name == "blocks.1.hook_resid_mid";
    });
    const std::string stream = concat("blocks.1.hook_resid_", in_turn ? "mid" : "pre");
    const auto change = [](std::string_view, const MutableTensorView& value) {
      for (std::size_t i = 0; i < value.elements(); ++i) value.f32()[i] += i % 3 == 0 ? 0.5f : 0.0f;
    };
    Trace copy, whole;
    for (Trace* trace : {&copy, &whole}) {
      for (const char* leaf : {"hook_mlp_out", "hook_attn_out"}) {
        trace->capture(concat("blocks.1.", leaf));
      }
      trace->capture(stream);
    }
    Trace plain;
    plain.capture("blocks.1.hook_attn_out");
    plain.capture(stream);
    copy.edit("blocks.1.hook_mlp_in", change);
    whole.edit(stream, change);
    model->forward(inputs, &plain);
    model->forward(inputs, &copy);
    model->forward(inputs, &whole);
    expect_same_bits("mlp_out", copy.at("blocks.1.hook_mlp_out"),
                     whole.at("blocks.1.hook_mlp_out"));
    expect_same_bits("attn_out", copy.at("blocks.1.hook_attn_out"),
                     plain.at("blocks.1.hook_attn_out"));
    expect_same_bits("stream", copy.at(stream), plain.at(stream));
  }
}

}  // namespace
}  // namespace clearformer::test
