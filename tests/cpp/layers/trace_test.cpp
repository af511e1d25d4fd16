#include "clearformer/layers/trace.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

#include "clearformer/layers/gradient.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

TEST(MatchesPattern, StarsStandForAnyRun) {
  EXPECT_TRUE(matches_pattern("blocks.0.attn.hook_q", "blocks.0.attn.hook_q"));
  EXPECT_TRUE(matches_pattern("blocks.0.attn.hook_q", "*"));
  EXPECT_TRUE(matches_pattern("blocks.0.attn.hook_q", "blocks.*.hook_q"));
  EXPECT_TRUE(matches_pattern("blocks.0.attn.hook_q", "*.hook_*"));
  EXPECT_TRUE(matches_pattern("blocks.0.attn.hook_q", "*hook_q*"));
  EXPECT_TRUE(matches_pattern("blocks.11.hook_resid_pre", "blocks.1*.hook_resid_pre"));
  EXPECT_TRUE(matches_pattern("", "*"));
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_TRUE(matches_pattern("aXbXc", "a*X*c"));
  EXPECT_TRUE(matches_pattern("aXbXXc", "a**XX*c*"));
  EXPECT_FALSE(matches_pattern("aXbX", "a*X*X*X"));
  std::string stars;  // exponential backtracking over the stars would not terminate
  for (int i = 0; i < 5000; ++i) stars += "*b";
  EXPECT_FALSE(matches_pattern(std::string(4000, 'b'), stars));
  EXPECT_TRUE(matches_pattern(std::string(5000, 'b'), stars));
}

TEST(MatchesPattern, AWholeNameMustFit) {
  EXPECT_FALSE(matches_pattern("blocks.0.attn.hook_q", "hook_q"));
  EXPECT_FALSE(matches_pattern("blocks.0.attn.hook_q", "blocks.0.attn.hook"));
  EXPECT_FALSE(matches_pattern("hook_q", "hook_q*x"));
  EXPECT_FALSE(matches_pattern("hook_q", "hook_rot_q"));
  EXPECT_FALSE(matches_pattern("hook_embed", ""));
  EXPECT_FALSE(matches_pattern("", "a"));
  EXPECT_FALSE(matches_pattern("blocks.1.hook", "blocks.0*"));
}

TEST(Trace, KeepsCopiesOfWhatMatches) {
  Trace trace;
  trace.capture("a*");
  Tensor value = Random(1).tensor({2, 3});
  const Tensor before = value.clone();
  const TraceScope scope(&trace);
  scope("alpha", value, "batch pos");
  scope("beta", value, "batch pos");
  value.f32()[0] = 9.0f;
  ASSERT_EQ(trace.captured().size(), 1u);
  EXPECT_EQ(trace.captured()[0].name, "alpha");
  EXPECT_EQ(trace.captured()[0].legend, "batch pos");
  expect_same_bits("alpha", trace.at("alpha"), before);
  expect_error(ErrorCode::invalid_argument, {"trace", "\"beta\"", "not captured"},
               [&] { trace.at("beta"); });
}

TEST(Trace, EditsRunInOrderAndBeforeTheCapture) {
  Trace trace;
  trace.capture("*");
  std::vector<std::string> seen;
  trace.edit("x", [&](std::string_view name, MutableTensorView value) {
    seen.push_back(concat("first ", name));
    value.f32()[0] += 1.0f;
  });
  trace.edit("x*", [&](std::string_view name, MutableTensorView value) {
    seen.push_back(concat("second ", name));
    value.f32()[0] *= 10.0f;
  });
  Tensor value = Tensor::zeros({1});
  const TraceScope scope(&trace);
  scope("x", value, "");
  EXPECT_EQ(value.f32()[0], 10.0f);
  EXPECT_EQ(trace.at("x").f32()[0], 10.0f);
  EXPECT_EQ(seen, (std::vector<std::string>{"first x", "second x"}));
}

TEST(TraceScope, NamesGrowWithTheTree) {
  Trace trace;
  trace.capture("blocks.3.attn.hook_q");
  const TraceScope root(&trace);
  EXPECT_TRUE((root / "blocks.3" / "attn").wants("hook_q"));
  EXPECT_FALSE((root / "blocks.3" / "attn").wants("hook_k"));
  EXPECT_FALSE((root / "blocks.2" / "attn").wants("hook_q"));
  EXPECT_FALSE(root.wants("hook_q"));
}

TEST(TraceScope, AnEditIsWantedToo) {
  Trace trace;
  trace.edit("hook_pattern", [](std::string_view, MutableTensorView) {});
  EXPECT_TRUE(TraceScope(&trace).wants("hook_pattern"));
  EXPECT_TRUE(trace.edits("hook_pattern"));
  EXPECT_FALSE(trace.captures("hook_pattern"));
}

TEST(TraceScope, WithoutATraceNothingIsWanted) {
  const TraceScope none;
  EXPECT_FALSE(static_cast<bool>(none));
  EXPECT_FALSE((none / "attn").wants("hook_q"));
  Tensor value = Tensor::zeros({1});
  (none / "attn")("hook_q", value, "");
  EXPECT_EQ(value.f32()[0], 0.0f);
}

TEST(Trace, AnEditWithoutAFunctionIsRefused) {
  Trace trace;
  expect_error(ErrorCode::invalid_argument, {"hook_pattern", "no function"},
               [&] { trace.edit("hook_pattern", Trace::Function()); });
}

// Enough of them to move the edits in memory, from each kind of function.
TEST(Trace, FunctionsCannotAddEdits) {
  Trace trace, other;
  Gradient gradient;
  int refused = 0;
  const auto nothing = [](std::string_view, const MutableTensorView&) {};
  const auto add_edits = [&](std::string_view, const MutableTensorView&) {
    for (int i = 0; i < 20; ++i) {
      for (const auto& add : std::initializer_list<std::function<void()>>{
               [&] { trace.edit("added", nothing); },
               [&] { trace.edit(Edit{.hook = "added", .op = Edit::Op::zero}); }}) {
        expect_error(ErrorCode::invalid_argument, {"edit", "added", "runs"}, add);
        ++refused;
      }
    }
    other.edit("added", nothing);
  };
  trace.edit("x", add_edits, add_edits);
  trace.edit("throws", [](std::string_view, const MutableTensorView&) { throw 5; });
  gradient.edit("x", [&](std::string_view name, const MutableTensorView& d) {
    add_edits(name, d);
    expect_error(ErrorCode::invalid_argument, {"edit", "added", "runs"},
                 [&] { gradient.edit("added", nothing); });
  });
  Tensor value = Tensor::zeros({1});
  const TraceScope scope(&trace);
  scope("x", value, "");
  EXPECT_EQ(refused, 40);
  EXPECT_THROW(scope("throws", value, ""), int);
  EXPECT_FALSE(trace.edits("added"));
  EXPECT_TRUE(other.edits("added"));
  gradient.begin_layers();
  trace.differentiate(&gradient);
  scope.back("x", value, "");
  EXPECT_EQ(refused, 120);
  trace.edit("added", nothing);  // no function runs any more
  gradient.edit("added", nothing);
  EXPECT_TRUE(trace.edits("added"));
}

}  // namespace
}  // namespace clearformer::test
