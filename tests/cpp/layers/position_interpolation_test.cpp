// Bicubic interpolation of position tables against torch's, and invariants for any table.
#include "clearformer/layers/position_interpolation.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

const Fixture& interpolation_references() {
  static const Fixture fixture("patch_embedding");
  return fixture;
}

Grid grid_option(const Case& reference, const std::string& name) {
  const auto& sizes = reference.option(name).array();
  return {static_cast<std::size_t>(sizes[0].number()), static_cast<std::size_t>(sizes[1].number())};
}

// Both sum 16 products in double, with weights accurate to a few roundings, and round once: the
// floats are adjacent, or differ by the double errors of 64·2^-53 of the largest element.
constexpr Bound kSummedInDouble{0.0, 2 * kRoundoff, 64 * 0x1p-53};

TEST(PositionInterpolation, EveryTableIsTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : interpolation_references().of_op("interpolate_positions")) {
    SCOPED_TRACE(reference->name());
    const Tensor table =
        interpolate_positions(reference->input("table"), grid_option(*reference, "grid"),
                              grid_option(*reference, "new_grid"));
    expect_close("output", table, reference->output("output"), kSummedInDouble);
    ++cases;
  }
  EXPECT_EQ(cases, 8u);
}

// (1, D, h, w) -> (h·w, D)
Tensor pixels_of(const Tensor& image) {
  const std::size_t d = image.dim(1), pixels = image.dim(2) * image.dim(3);
  Tensor result({pixels, d});
  for (std::size_t i = 0; i < image.elements(); ++i) {
    result.f32()[i % pixels * d + i / pixels] = image.f32()[i];
  }
  return result;
}

TEST(PositionInterpolation, EveryImageIsTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : interpolation_references().of_op("interpolate_bicubic")) {
    SCOPED_TRACE(reference->name());
    const Tensor& image = reference->input("input");
    const Tensor resized = interpolate_positions(pixels_of(image), {image.dim(2), image.dim(3)},
                                                 grid_option(*reference, "new_grid"));
    expect_close("output", resized, pixels_of(reference->output("output")), kSummedInDouble);
    ++cases;
  }
  EXPECT_EQ(cases, 2u);
}

TEST(PositionInterpolation, TheSameGridKeepsEveryBit) {
  Random random(31);
  const Tensor table = random.tensor({1, 2 + 15, 7});
  expect_same_bits("3 x 5", interpolate_positions(table, {3, 5}, {3, 5}), table);
}

TEST(PositionInterpolation, TokensStayAndConstantsStayConstant) {
  Random random(32);
  Tensor table = random.tensor({2 + 12, 5});
  for (std::size_t i = 2 * 5; i < table.elements(); ++i) {
    table.f32()[i] = static_cast<float>(i % 5) - 2.5f;
  }
  for (const Grid to : {Grid{1, 1}, Grid{2, 9}, Grid{7, 3}, Grid{40, 1}}) {
    const Tensor resized = interpolate_positions(table, {3, 4}, to);
    EXPECT_EQ(resized.shape(), (Shape{2 + to.patches(), 5}));
    for (std::size_t i = 0; i < resized.elements(); ++i) {
      EXPECT_EQ(resized.f32()[i], i < 10 ? table.f32()[i] : static_cast<float>(i % 5) - 2.5f);
    }
  }
}

// With antialiasing as without: the kernel's weights add up to 1, and it reproduces slopes where it does not meet an edge;
// wider steps stretch it, narrower ones do not compress it.
TEST(PositionInterpolation, AntialiasingKeepsConstantsAndSlopes) {
  constexpr std::size_t kRows = 24;
  Tensor table({kRows, 2});
  for (std::size_t i = 0; i < kRows; ++i) {
    table.f32()[2 * i] = 3.0f;
    table.f32()[2 * i + 1] = static_cast<float>(i);
  }
  for (const std::size_t rows : {12u, 24u, 48u, 72u}) {
    const double step = static_cast<double>(kRows) / static_cast<double>(rows);
    const Tensor resized = interpolate_positions(table, {kRows, 1}, {rows, 1}, Antialias::yes);
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_NEAR(resized.f32()[2 * i], 3.0, 1e-6);
      const double center = (static_cast<double>(i) + 0.5) * step - 0.5;
      if (center < 4.0 || center > kRows - 5.0) continue;
      EXPECT_NEAR(resized.f32()[2 * i + 1], center, 1e-5) << rows << " rows";
    }
  }
}

TEST(PositionInterpolation, RowsAndColumnsAreTreatedAlike) {
  Random random(33);
  const Tensor table = random.tensor({5, 3});
  const Tensor down = interpolate_positions(table, {5, 1}, {8, 1});
  expect_same_bits("turned", interpolate_positions(table, {1, 5}, {1, 8}), down);
}

TEST(PositionInterpolation, RefusalsNameTheRuleAndTheShapes) {
  EXPECT_EQ(square_grid(1 + 14 * 14, 1), (Grid{14, 14}));
  EXPECT_EQ(square_grid(2 + 9, 2), (Grid{3, 3}));
  const auto shape = ErrorCode::shape_mismatch;
  expect_error(shape, {"13 rows", "no square"}, [] { square_grid(13, 1); });
  expect_error(shape, {"1 rows", "2 of them"}, [] { square_grid(1, 2); });
  const Tensor table = Tensor::zeros({1, 10, 4});
  expect_error(shape, {"[1, 10, 4]", "tokens + 12", "3 x 4"},
               [&] { interpolate_positions(table, {3, 4}, {2, 2}); });
  expect_error(shape, {"[2, 10, 4]"},
               [] { interpolate_positions(Tensor::zeros({2, 10, 4}), {3, 3}, {2, 2}); });
  expect_error(shape, {"[4]"}, [] { interpolate_positions(Tensor::zeros({4}), {1, 1}, {2, 2}); });
  for (const Grid to : {Grid{0, 2}, Grid{2, 0}}) {
    expect_error(ErrorCode::invalid_argument, {"3 x 3", "empty"},
                 [&] { interpolate_positions(table, {3, 3}, to); });
  }
  expect_error(ErrorCode::invalid_argument, {"0 x 3", "empty"},
               [] { interpolate_positions(Tensor::zeros({0, 2}), {0, 3}, {2, 2}); });
}

TEST(PositionInterpolation, RefusesAGridBeyondTheAddressSpace) {
  const Tensor table = Tensor::zeros({2, 3});
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  expect_error(ErrorCode::out_of_memory, {"shape"},
               [&] { interpolate_positions(table, {1, 1}, {kMost, 1}); });
  expect_error(ErrorCode::out_of_memory, {"shape"},
               [&] { interpolate_positions(table, {1, 1}, {kMost / 2, 3}); });
}

}  // namespace
}  // namespace clearformer::test
