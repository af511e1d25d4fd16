// Captures and edits of a running model: captures change no bit, edits change only what is computed later.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

class ModelTrace : public ::testing::Test {
 protected:
  std::vector<std::string> all_hooks() {
    Trace trace;
    trace.capture("*");
    forward(model, ids, &trace);
    std::vector<std::string> names;
    for (const Trace::Captured& entry : trace.captured()) names.push_back(entry.name);
    return names;
  }
  static bool same(const Tensor& left, const Tensor& right) {
    return left.shape() == right.shape() &&
           std::memcmp(left.data(), right.data(), left.elements() * sizeof(float)) == 0;
  }

  std::unique_ptr<Model> loaded = load_tiny("odd");
  Model& model = *loaded;
  Tensor ids = random_ids(1, 2, 11, 97);
  Tensor logits = forward(model, ids);
};

TEST_F(ModelTrace, CapturingAnythingChangesNoBit) {
  auto patterns = all_hooks();
  ASSERT_EQ(patterns.size(), 2u * 21 + 4);
  patterns.insert(patterns.end(), {"*", "blocks.*", "*hook_pattern", "nothing"});
  for (const std::string& pattern : patterns) {
    Trace trace;
    trace.capture(pattern);
    expect_same_bits(pattern, forward(model, ids, &trace), logits);
  }
}

TEST_F(ModelTrace, PatternsSelectHooks) {
  const std::pair<const char*, std::size_t> counts[] = {{"blocks.0.attn.hook_pattern", 1},
                                                        {"*hook_pattern", 2},
                                                        {"blocks.1.*", 21},
                                                        {"hook_embed", 1},
                                                        {"*.hook_scale", 5},
                                                        {"blocks.*.mlp.hook_p*", 6},
                                                        {"nothing", 0}};
  for (const auto& [pattern, count] : counts) {
    Trace trace;
    trace.capture(pattern);
    forward(model, ids, &trace);
    EXPECT_EQ(trace.captured().size(), count) << pattern;
  }
}

TEST_F(ModelTrace, ShapesAndLegendsAgree) {
  Trace trace;
  trace.capture("*");
  forward(model, ids, &trace);
  for (const Trace::Captured& entry : trace.captured()) {
    const auto words = 1 + std::count(entry.legend.begin(), entry.legend.end(), ' ');
    EXPECT_EQ(static_cast<std::size_t>(words), entry.value.shape().rank()) << entry.name;
    EXPECT_EQ(entry.value.dim(0), 2u) << entry.name;
  }
  EXPECT_EQ(trace.at("blocks.0.attn.hook_k").shape(), (Shape{2, 11, 1, 10}));
  EXPECT_EQ(trace.at("blocks.0.attn.hook_z").shape(), (Shape{2, 11, 3, 10}));
  EXPECT_EQ(trace.at("blocks.0.attn.hook_pattern").shape(), (Shape{2, 3, 11, 11}));
  EXPECT_EQ(trace.at("blocks.0.mlp.hook_post").shape(), (Shape{2, 11, 44}));
}

TEST_F(ModelTrace, PatternRowsSumToOneAndAreCausal) {
  Trace trace;
  trace.capture("*hook_pattern");
  forward(model, ids, &trace);
  for (const Trace::Captured& entry : trace.captured()) {
    for (std::size_t row = 0; row < 2 * 3 * 11; ++row) {
      double sum = 0.0;
      for (std::size_t key = 0; key < 11; ++key) {
        const float weight = entry.value.f32()[row * 11 + key];
        if (key > row % 11) {
          EXPECT_EQ(weight, 0.0f);
        }
        sum += weight;
      }
      EXPECT_NEAR(sum, 1.0, gamma(14));
    }
  }
}

// Each hook point can be edited; the logits change, and nothing before it does.
TEST_F(ModelTrace, AnEditOfAnyHookReachesTheLogitsAndNothingBefore) {
  Trace before;
  before.capture("*");
  forward(model, ids, &before);
  const std::vector<std::string> hooks = all_hooks();
  for (std::size_t edited = 0; edited < hooks.size(); ++edited) {
    SCOPED_TRACE(hooks[edited]);
    Trace trace;
    trace.capture("*");
    trace.edit(hooks[edited], [](std::string_view, MutableTensorView value) {
      for (std::size_t i = 0; i < value.elements(); ++i)
        value.f32()[i] *= 1.0f + 0.01f * static_cast<float>(i % 7);
    });
    EXPECT_FALSE(same(forward(model, ids, &trace), logits));
    for (std::size_t hook = 0; hook < edited; ++hook) {
      EXPECT_TRUE(same(trace.at(hooks[hook]), before.at(hooks[hook]))) << hooks[hook] << " changed";
    }
    EXPECT_FALSE(same(trace.at(hooks[edited]), before.at(hooks[edited])));
  }
}

TEST_F(ModelTrace, AnEditThatWritesTheSameNumbersChangesNoBit) {
  Trace trace;
  trace.edit("*", [](std::string_view, MutableTensorView) {});
  expect_same_bits("logits", forward(model, ids, &trace), logits);
}

// Causality, tested from outside: an edit at one position cannot change an earlier one.
TEST_F(ModelTrace, AnEditAtAPositionReachesOnlyThatAndLaterOnes) {
  for (const char* hook : {"blocks.0.hook_resid_pre", "blocks.0.attn.hook_k",
                           "blocks.0.attn.hook_attn_scores", "blocks.0.attn.hook_pattern"}) {
    Trace trace;
    Edit edit;
    edit.hook = hook;
    edit.op = Edit::Op::scale;
    edit.positions = {6};
    edit.value = Tensor({1});
    *edit.value.f32() = 0.5f;
    trace.edit(std::move(edit));
    const Tensor edited = forward(model, ids, &trace);
    for (std::size_t position = 0; position < 22; ++position) {
      const bool equal = std::memcmp(edited.f32() + position * 97, logits.f32() + position * 97,
                                     97 * sizeof(float)) == 0;
      EXPECT_EQ(equal, position % 11 < 6) << hook << ", position " << position;
    }
  }
}

TEST_F(ModelTrace, ReplacingTheResidualStreamReplacesTheRun) {
  const Tensor other = random_ids(2, 2, 11, 97);
  Trace source;
  source.capture("blocks.1.hook_resid_pre");
  const Tensor expected = forward(model, other, &source);
  Trace patch;
  patch.edit("blocks.1.hook_resid_pre", [&](std::string_view name, MutableTensorView value) {
    const Tensor& from = source.at(name);
    std::memcpy(value.data(), from.data(), from.elements() * sizeof(float));
  });
  expect_same_bits("logits", forward(model, ids, &patch), expected);
}

TEST_F(ModelTrace, AHeadThatIsSilencedAddsNothing) {
  Trace trace;
  trace.capture("blocks.0.hook_attn_out");
  trace.edit("blocks.0.attn.hook_z", [](std::string_view, MutableTensorView z) {
    std::fill_n(z.f32(), z.elements(), 0.0f);
  });
  forward(model, ids, &trace);
  const Tensor& out = trace.at("blocks.0.hook_attn_out");  // no bias in this checkpoint
  EXPECT_EQ(Numbers(out).values, std::vector<double>(out.elements(), 0.0));
}

}  // namespace
}  // namespace clearformer::test
