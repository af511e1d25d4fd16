// Captures of a part: selections, reductions and the largest numbers, each against a plain loop.
#include "clearformer/layers/capture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/edited.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

using Reduction = Capture::Reduction;
constexpr const char* kHeadAxes = "batch pos head d_head";

Trace::Captured captured(Capture capture, Tensor value, const char* legend, std::size_t past = 0) {
  capture.hook = "hook";
  Trace trace;
  trace.capture(std::move(capture));
  TraceScope(&trace).after(past)("hook", value, legend);
  return std::move(trace.captured().at(0));
}

TEST(Capture, KeepsTheSelectedPartInTheOrderOfItsIndices) {
  const Trace::Captured found =
      captured({.hook = {}, .rows = {1}, .heads = {2, 0}, .positions = {-1, 4}, .features = {1}},
               counted({2, 3, 4, 2}), kHeadAxes, 3);
  EXPECT_EQ(found.value.shape(), (Shape{1, 2, 2, 1}));
  // (row 1, position 5 or 4 behind 3 cached ones, head 2 or 0, feature 1) of 2 × 3 × 4 × 2, counted from 1
  expect_same_bits("part", found.value, numbers({1, 2, 2, 1}, {46, 42, 38, 34}));
  EXPECT_TRUE(found.selected);
  EXPECT_TRUE(found.indices.empty());
}

TEST(Capture, ReducesOverTheNamedAxes) {
  Tensor value = counted({2, 3, 2, 2});
  value.f32()[5] = -100.0f;
  for (const Reduction how : {Reduction::mean, Reduction::max, Reduction::norm}) {
    const Trace::Captured found =
        captured({.hook = {}, .positions = {0, 1}, .reduction = how, .over = {"pos", "feature"}},
                 value.clone(), kHeadAxes);
    ASSERT_EQ(found.value.shape(), (Shape{2, 1, 2, 1}));
    for (std::size_t row = 0; row < 2; ++row) {
      for (std::size_t head = 0; head < 2; ++head) {
        double sum = 0.0, squares = 0.0, most = -1000.0;
        for (std::size_t i = 0; i < 4; ++i) {
          const double x = value.f32()[((row * 3 + i / 2) * 2 + head) * 2 + i % 2];
          sum += x;
          squares += x * x;
          most = std::max(most, x);
        }
        const double wanted = how == Reduction::mean  ? sum / 4
                              : how == Reduction::max ? most
                                                      : std::sqrt(squares);
        EXPECT_EQ(found.value.f32()[row * 2 + head], static_cast<float>(wanted));
      }
    }
  }
}

// As torch: the largest of negative numbers is negative, and NaN exceeds all.
TEST(Capture, TheMaximumMayBeNegativeOrNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor found = captured({.hook = {}, .reduction = Reduction::max, .over = {"feature"}},
                                numbers({1, 4, 3}, {-3, -1, -2, nan, 1, 2, 1, nan, 2, 1, 2, nan}),
                                "batch pos d_model")
                           .value.clone();
  EXPECT_EQ(found.f32()[0], -1.0f);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(found.f32()[i])) << i;
}

TEST(Capture, KeepsTheLargestNumbersAndWhereTheyAre) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // Two positions of five features, of which four are selected; equal numbers keep their order.
  const Trace::Captured found =
      captured({.hook = {},
                .features = {4, 1, 2, 3},
                .reduction = Reduction::top_k,
                .over = {"feature"},
                .k = 3},
               numbers({1, 2, 5}, {9, 1, 7, 1, 1, 9, 2, nan, -1, 3}), "batch pos d_model");
  ASSERT_EQ(found.value.shape(), (Shape{1, 2, 3}));
  const std::int32_t at[] = {2, 4, 1, 2, 4, 1};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(static_cast<const std::int32_t*>(found.indices.data())[i], at[i]) << i;
  }
  EXPECT_EQ(found.value.f32()[0], 7.0f);
  EXPECT_TRUE(std::isnan(found.value.f32()[3]));
  EXPECT_EQ(found.value.f32()[4], 3.0f);
  // Along positions, which count from the beginning of the sequence; more than there are gives all.
  const Trace::Captured along =
      captured({.hook = {}, .reduction = Reduction::top_k, .over = {"pos"}, .k = 9},
               numbers({1, 3, 2}, {1, 6, 3, 5, 2, 4}), "batch pos d_model", 10);
  expect_same_bits("values", along.value, numbers({1, 3, 2}, {3, 6, 2, 5, 1, 4}));
  const std::int32_t places[] = {11, 10, 12, 11, 10, 12};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(static_cast<const std::int32_t*>(along.indices.data())[i], places[i]) << i;
  }
}

TEST(Capture, IsBesideThoseOfTheWholeValueAndAfterEdits) {
  Trace trace;
  trace.capture("hook");
  trace.capture(Capture{.hook = "ho*", .features = {0}});
  trace.edit(Edit{.hook = "hook", .positions = {1}});
  Tensor value = counted({1, 2, 2});
  const TraceScope scope(&trace);
  scope("hook", value, "batch pos d_model");
  ASSERT_EQ(trace.captured().size(), 2u);
  expect_same_bits("part", trace.captured()[0].value, numbers({1, 2, 1}, {1, 0}));
  expect_same_bits("whole", trace.captured()[1].value, numbers({1, 2, 2}, {1, 2, 0, 0}));
  EXPECT_TRUE(trace.captures("hook"));
  EXPECT_FALSE(trace.captures("other"));
}

TEST(Capture, RefusesWhatIsNotThere) {
  const auto refused = [](Capture capture, std::vector<std::string> parts) {
    expect_error(ErrorCode::invalid_argument, parts,
                 [&] { captured(std::move(capture), counted({1, 2, 3}), "batch pos d_model"); });
  };
  refused({.hook = {}, .features = {3}}, {"capture: at hook", "feature 3 is not among the 3"});
  refused({.hook = {}, .heads = {0}}, {"no axis of heads"});
  refused({.hook = {}, .reduction = Reduction::mean}, {"needs the axes"});
  refused({.hook = {}, .over = {"pos"}}, {"no reduction"});
  refused({.hook = {}, .reduction = Reduction::mean, .over = {"head"}}, {"no axis of \"head\""});
  refused({.hook = {}, .reduction = Reduction::mean, .over = {"heads"}}, {"there is no axis"});
  refused({.hook = {}, .reduction = Reduction::top_k, .over = {"pos"}}, {"whole number > 0"});
  refused({.hook = {}, .reduction = Reduction::top_k, .over = {"pos", "feature"}, .k = 1},
          {"one axis"});
  refused({.hook = {}, .reduction = Reduction::max, .over = {"pos"}, .k = 1}, {"top_k needs"});
  expect_error(ErrorCode::invalid_argument, {"\"sum\"", "mean, max"},
               [] { reduction_named("sum"); });
}

}  // namespace
}  // namespace clearformer::test
