// Reading and editing attention with a trace.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/naive_attention.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

AttentionProblem problem_of(float softcap = 0.0f) {
  Random random(1);
  AttentionProblem problem;
  problem.queries = random.tensor({2, 5, 4, 6}, -2, 2);
  problem.keys = random.tensor({2, 7, 2, 6}, -2, 2);
  problem.values = random.tensor({2, 7, 2, 3}, -2, 2);
  problem.options.score.scale = 0.4f;
  problem.options.softcap = softcap;
  return problem;
}

TEST(AttentionTrace, OffersEachStepOnceInOrder) {
  Trace trace;
  trace.capture("*");
  attend(problem_of(), Mask::causal(), &trace);
  std::vector<std::string> names;
  for (const Trace::Captured& entry : trace.captured()) {
    names.push_back(entry.name);
    EXPECT_EQ(entry.value.shape(), (Shape{2, 4, 5, 7}));
    EXPECT_EQ(entry.legend, "batch head query_pos key_pos");
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"hook_attn_scores_raw", "hook_attn_scores", "hook_pattern"}));
}

TEST(AttentionTrace, SoftcappedScoresAreOfferedWhereThereIsASoftcap) {
  Trace trace;
  trace.capture("*");
  attend(problem_of(1.5f), Mask(), &trace);
  ASSERT_EQ(trace.captured().size(), 4u);
  const Tensor& capped = trace.at("hook_attn_scores_softcapped");
  for (std::size_t i = 0; i < capped.elements(); ++i) {
    EXPECT_NEAR(capped.f32()[i], 1.5 * std::tanh(trace.at("hook_attn_scores_raw").f32()[i] / 1.5),
                1e-6);
  }
}

TEST(AttentionTrace, MaskedScoresAreMinusInfinityAndTheOthersUntouched) {
  Trace trace;
  trace.capture("*");
  attend(problem_of(), Mask::causal(1), &trace);
  const Tensor &raw = trace.at("hook_attn_scores_raw"), &masked = trace.at("hook_attn_scores");
  for (std::size_t i = 0; i < raw.elements(); ++i) {
    const bool visible = i % 7 <= i / 7 % 5 + 1;
    EXPECT_EQ(masked.f32()[i], visible ? raw.f32()[i] : -std::numeric_limits<float>::infinity());
  }
}

// Capturing any single hook takes the traced path; the output keeps its bits.
TEST(AttentionTrace, CapturingAnyHookChangesNoBit) {
  const AttentionProblem problem = problem_of(1.5f);
  const Tensor expected = attend(problem, Mask::causal());
  for (const char* hook : {"hook_attn_scores_raw", "hook_attn_scores_softcapped",
                           "hook_attn_scores", "hook_pattern", "unknown"}) {
    Trace trace;
    trace.capture(hook);
    expect_same_bits(hook, attend(problem, Mask::causal(), &trace), expected);
  }
}

TEST(AttentionTrace, AnEditedPatternIsWhatTheValuesAreMixedWith) {
  const AttentionProblem problem = problem_of();
  Trace trace;
  trace.edit("hook_pattern", [](std::string_view, MutableTensorView pattern) {
    for (std::size_t i = 0; i < pattern.elements(); ++i)
      pattern.f32()[i] = i % 7 == 2 ? 1.0f : 0.0f;
  });
  const Tensor output = attend(problem, Mask(), &trace);
  for (std::size_t i = 0; i < output.elements(); ++i) {
    const std::size_t column = i % 3, group = i / 3 % 4 / 2, batch = i / (5 * 4 * 3);
    EXPECT_EQ(output.f32()[i], problem.values.f32()[((batch * 7 + 2) * 2 + group) * 3 + column]);
  }
}

TEST(AttentionTrace, AnEditedScorePropagatesToThePattern) {
  Trace trace;
  trace.capture("hook_pattern");
  trace.edit("hook_attn_scores", [](std::string_view, MutableTensorView scores) {
    for (std::size_t i = 0; i < scores.elements(); ++i) {
      if (i % 7 != 4) scores.f32()[i] = -std::numeric_limits<float>::infinity();
    }
  });
  attend(problem_of(), Mask(), &trace);
  const Tensor& pattern = trace.at("hook_pattern");
  for (std::size_t i = 0; i < pattern.elements(); ++i) {
    EXPECT_EQ(pattern.f32()[i], i % 7 == 4 ? 1.0f : 0.0f);
  }
}

}  // namespace
}  // namespace clearformer::test
