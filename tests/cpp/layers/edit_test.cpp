// Edits given as data: the selected elements, the operations, and invalid edits.
#include <gtest/gtest.h>

#include "support/closeness.h"
#include "support/edited.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

constexpr const char* kHeadsLegend = "batch pos head d_head";
constexpr const char* kScores = "batch head query_pos key_pos";

// The same edit by a plain loop over (B, T, H, d).
template <class Change>
void expect_heads(const Tensor& found, Change change) {
  const Shape& shape = found.shape();
  Tensor expected = counted(shape);
  for (std::size_t i = 0; i < expected.elements(); ++i) {
    const std::size_t d = i % shape[3], head = i / shape[3] % shape[2];
    const std::size_t position = i / shape[3] / shape[2] % shape[1];
    const std::size_t batch = i / shape[3] / shape[2] / shape[1];
    expected.f32()[i] = change(batch, position, head, d, expected.f32()[i]);
  }
  expect_same_bits("edited", found, expected);
}

TEST(Edit, ZeroesHeadsAndPositions) {
  expect_heads(
      edited({.hook = {}, .heads = {1, -1}, .positions = {0, -2}}, {2, 5, 4, 3}, kHeadsLegend),
      [](auto, auto position, auto head, auto, float x) {
        const bool picked = (head == 1 || head == 3) && (position == 0 || position == 3);
        return picked ? 0.0f : x;
      });
}

TEST(Edit, ScalesAddsAndReplacesWithBroadcastValues) {
  const Shape shape{2, 3, 2, 4};
  expect_heads(edited({.hook = {}, .op = Edit::Op::scale, .value = numbers({}, {3.0f})}, shape,
                      kHeadsLegend),
               [](auto, auto, auto, auto, float x) { return x * 3.0f; });
  const std::vector<float> steps = {10.0f, 20.0f, 30.0f, 40.0f};
  expect_heads(
      edited({.hook = {}, .op = Edit::Op::add, .heads = {1}, .value = numbers({4}, steps)}, shape,
             kHeadsLegend),
      [&](auto, auto, auto head, auto d, float x) { return head == 1 ? x + steps[d] : x; });
  // One number per sequence and position.
  const std::vector<float> each = {1, 2, 3, 4, 5, 6};
  expect_heads(
      edited({.hook = {}, .op = Edit::Op::replace, .value = numbers({2, 3, 1, 1}, each)}, shape,
             kHeadsLegend),
      [&](auto batch, auto position, auto, auto, float) { return each[batch * 3 + position]; });
}

TEST(Edit, TheOrderOfIndicesIsThatOfTheValue) {
  expect_heads(edited({.hook = {},
                       .op = Edit::Op::replace,
                       .heads = {2, 0},
                       .value = numbers({2, 1}, {7.0f, 8.0f})},
                      {1, 2, 3, 2}, kHeadsLegend),
               [](auto, auto, auto head, auto, float x) {
                 return head == 2 ? 7.0f : head == 0 ? 8.0f : x;
               });
}

TEST(Edit, TheMeanIsOverBatchAndPositionsOfEachFeature) {
  const Shape shape{2, 3, 2, 2};
  const Tensor before = counted(shape);
  expect_heads(edited({.hook = {}, .op = Edit::Op::mean, .heads = {1}}, shape, kHeadsLegend),
               [&](auto, auto, auto head, auto d, float x) {
                 double sum = 0.0;
                 for (std::size_t row = 0; row < 6; ++row)
                   sum += before.f32()[(row * 2 + 1) * 2 + d];
                 return head == 1 ? static_cast<float>(sum / 6.0) : x;
               });
  expect_heads(edited({.hook = {}, .op = Edit::Op::mean, .value = numbers({2}, {5.0f, 6.0f})},
                      shape, kHeadsLegend),
               [](auto, auto, auto, auto d, float) { return d == 0 ? 5.0f : 6.0f; });
}

TEST(Edit, PositionsOfScoresAreThoseOfTheQueries) {
  const Tensor found = edited({.hook = {}, .heads = {0}, .positions = {1}}, {1, 2, 3, 4}, kScores);
  for (std::size_t i = 0; i < found.elements(); ++i) {
    const bool row = i / 12 == 0 && i / 4 % 3 == 1;
    EXPECT_EQ(found.f32()[i], row ? 0.0f : static_cast<float>(i + 1)) << i;
  }
}

TEST(Edit, PositionsCountFromTheBeginningOfTheSequence) {
  // This tensor holds positions 5, 6, 7.
  const Tensor found =
      edited({.hook = {}, .positions = {6, -1}}, {1, 3, 2}, "batch pos d_model", 5);
  const Tensor expected = numbers({1, 3, 2}, {1, 2, 0, 0, 0, 0});
  expect_same_bits("edited", found, expected);
}

TEST(Edit, RefusesWhatIsNotThere) {
  const auto refused = [](Edit edit, const Shape& shape, const char* legend, std::size_t past,
                          std::vector<std::string> parts,
                          ErrorCode code = ErrorCode::invalid_argument) {
    expect_error(code, parts, [&] { edited(std::move(edit), shape, legend, past); });
  };
  refused({.hook = {}, .heads = {4}}, {1, 2, 4, 3}, kHeadsLegend, 0,
          {"zero at hook", "head 4", "the 4 of this pass"});
  refused({.hook = {}, .heads = {-5}}, {1, 2, 4, 3}, kHeadsLegend, 0, {"head -5"});
  refused({.hook = {}, .heads = {0}}, {1, 2, 3}, "batch pos d_model", 0,
          {"no axis of heads", "batch pos d_model"});
  refused({.hook = {}, .positions = {0}}, {1, 3}, "batch d_model", 0, {"no axis of positions"});
  refused({.hook = {}, .positions = {2}}, {1, 2, 3}, "batch pos d_model", 0,
          {"position 2", "the 2 of this pass"});
  refused({.hook = {}, .positions = {1}}, {1, 2, 3}, "batch pos d_model", 4,
          {"position 1", "behind 4 cached ones"});
  refused({.hook = {}, .op = Edit::Op::scale}, {1}, "batch", 0, {"scale", "needs a value"});
  refused({.hook = {}, .op = Edit::Op::zero, .value = numbers({}, {1})}, {1}, "batch", 0,
          {"takes no value"});
  refused({.hook = {}, .op = Edit::Op::add, .value = numbers({5}, {1, 2, 3, 4, 5})}, {1, 2, 3},
          "batch pos d_model", 0, {"add at hook", "[5]", "[1, 2, 3]"}, ErrorCode::shape_mismatch);
  refused({.hook = {}, .op = Edit::Op::add, .value = numbers({1, 1, 3}, {1, 2, 3})}, {2, 3},
          "batch d_model", 0, {"add at hook", "[1, 1, 3]", "[2, 3]"}, ErrorCode::shape_mismatch);
  refused({.hook = {}, .rows = {2}}, {2, 3}, "batch d_model", 0, {"row 2", "the 2 of this pass"});
  refused({.hook = {}, .key_positions = {0}}, {1, 2, 3}, "batch pos d_model", 0,
          {"no axis of keys", "batch pos d_model"});
  refused({.hook = {}, .key_positions = {-4}}, {1, 1, 2, 3}, kScores, 0, {"key position -4"});
  refused({.hook = {}, .features = {0}}, {1, 1, 2, 3}, kScores, 0, {"no axis of features"});
  refused({.hook = {}, .features = {3}}, {1, 2, 3}, "batch pos d_model", 0, {"feature 3"});
  refused({.hook = {}, .features = {1, 0, 1}}, {1, 2, 3}, "batch pos d_model", 0,
          {"feature 1 is selected twice", "0 and 2"});
  refused({.hook = {}, .heads = {3, -1}}, {1, 2, 4, 3}, kHeadsLegend, 0, {"head -1", "0 and 1"});
  refused({.hook = {}, .positions = {5, -1}}, {1, 2, 3}, "batch pos d_model", 4, {"position -1"});
  refused({.hook = {}, .op = Edit::Op::add, .value = Tensor::zeros({1}, DType::i32)}, {1}, "batch",
          0, {"float32"}, ErrorCode::dtype_mismatch);
  expect_error(ErrorCode::invalid_argument, {"\"double\"", "zero, mean"},
               [] { op_named("double"); });
}

TEST(Edit, StepsOfAGenerationHoldSomeOfThePositions) {
  Trace trace;
  trace.watch_steps({1});
  trace.edit(Edit{.hook = "hook", .positions = {1, 7}});
  Tensor prompt = counted({1, 3, 1}), step = counted({1, 1, 1});
  const TraceScope scope(&trace);
  scope("hook", prompt, "batch pos d_model");
  scope.after(7)("hook", step, "batch pos d_model");
  expect_same_bits("prompt", prompt, numbers({1, 3, 1}, {1, 0, 3}));
  EXPECT_EQ(step.f32()[0], 0.0f);
}

// The error of a step whose first position is `past`, of a generation from position 4 to before 9.
void refused_in_step(Edit edit, const char* hook, const Shape& shape, const char* legend,
                     std::size_t past, const char* message) {
  Trace trace;
  trace.watch_steps({.prompts = 1, .first = 4, .end = 9});
  edit.hook = hook;
  trace.edit(std::move(edit));
  Tensor value = counted(shape);
  expect_error(ErrorCode::invalid_argument, {message},
               [&] { TraceScope(&trace).after(past)(hook, value, legend); });
}

TEST(Edit, APositionThatNoStepOfAGenerationHasIsRefused) {
  const char* const cross = "decoder.0.cross_attn.hook_pattern";
  refused_in_step({.hook = {}, .positions = {9}}, "hook", {1, 2, 3}, "batch pos d_model", 4,
                  "position 9 is not among the 5 of this generation behind 4 cached ones");
  refused_in_step({.hook = {}, .positions = {3}}, "hook", {1, 2, 3}, "batch pos d_model", 4,
                  "position 3 is not among the 5 of this generation");
  refused_in_step({.hook = {}, .positions = {-3}}, "hook", {1, 2, 3}, "batch pos d_model", 4,
                  "position -3");
  refused_in_step({.hook = {}, .key_positions = {9}}, "hook", {1, 1, 2, 6}, kScores, 4,
                  "key position 9 is not among the 9 of this generation");
  refused_in_step({.hook = {}, .key_positions = {-10}}, "hook", {1, 1, 1, 8}, kScores, 7,
                  "key position -10");
  refused_in_step({.hook = {}, .key_positions = {3}}, cross, {1, 1, 2, 3}, kScores, 4,
                  "key position 3 is not among the 3 of this pass");
  refused_in_step({.hook = {}, .positions = {3}}, "encoder.0.hook_resid_pre", {1, 3, 2},
                  "batch pos d_model", 0, "position 3 is not among the 3 of this pass");
  refused_in_step({.hook = {}, .positions = {3}}, "decoder.0.cross_attn.hook_k", {1, 3, 1, 2},
                  "batch key_pos key_value_head d_head", 0, "position 3 is not among the 3");
}

TEST(Edit, APositionOfAnotherStepIsLeftToIt) {
  for (const std::int64_t given : {4, 5, 8, -2}) {
    Trace trace;
    trace.watch_steps({.prompts = 1, .first = 4, .end = 9});
    trace.edit(Edit{.hook = "hook", .positions = {given}});
    Tensor step = counted({1, 1, 1});
    TraceScope(&trace).after(7)("hook", step, "batch pos d_model");
    EXPECT_EQ(step.f32()[0], 1.0f) << given;
  }
  Trace trace;
  trace.watch_steps({.prompts = 1, .first = 4, .end = 9});
  trace.edit(Edit{.hook = "hook", .key_positions = {8, -9}});
  Tensor scores = counted({1, 1, 2, 6});
  TraceScope(&trace).after(4)("hook", scores, kScores);
  expect_same_bits("scores", scores, counted({1, 1, 2, 6}));
}

TEST(Edit, OneThatMeetsNothingIsToldOf) {
  Trace trace;
  trace.edit(Edit{.hook = "blocks.*.hook_resid_pre"});
  trace.edit("blocks.7.hook_resid_post", [](std::string_view, MutableTensorView) {});
  Tensor value = counted({1, 1, 1});
  const TraceScope scope(&trace);
  scope("blocks.0.hook_resid_pre", value, "batch pos d_model");
  expect_error(ErrorCode::invalid_argument, {"blocks.7.hook_resid_post"},
               [&] { trace.check_all_met(); });
}

}  // namespace
}  // namespace clearformer::test
