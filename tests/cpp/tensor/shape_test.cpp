#include "clearformer/tensor/shape.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

TEST(Shape, KnowsItsExtentsFromBothEnds) {
  const Shape shape{2, 7, 64};
  EXPECT_EQ(shape.rank(), 3u);
  EXPECT_EQ(shape[0], 2u);
  EXPECT_EQ(shape[2], 64u);
  EXPECT_EQ(shape.back(0), 64u);
  EXPECT_EQ(shape.back(2), 2u);
  EXPECT_EQ(shape.elements(), 896u);
  EXPECT_EQ(shape.outer(0), 896u);
  EXPECT_EQ(shape.outer(1), 14u);
  EXPECT_EQ(shape.outer(2), 2u);
  EXPECT_EQ(shape.outer(3), 1u);
  EXPECT_EQ(shape.text(), "[2, 7, 64]");
}

TEST(Shape, AScalarHasOneElement) {
  EXPECT_EQ(Shape().rank(), 0u);
  EXPECT_EQ(Shape().elements(), 1u);
  EXPECT_EQ(Shape().text(), "[]");
}

TEST(Shape, AnExtentOfZeroMakesItEmpty) { EXPECT_EQ((Shape{3, 0, 5}).elements(), 0u); }

TEST(Shape, ComparesRankAndExtents) {
  EXPECT_TRUE((Shape{2, 3}) == (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 3, 1}));
  EXPECT_FALSE((Shape{}) == (Shape{1}));
}

TEST(Shape, TakesEightDimensionsAndRefusesNine) {
  Shape shape{1, 2, 3, 4, 5, 6, 7};
  shape.append(8);
  EXPECT_EQ(shape.back(0), 8u);
  expect_error(ErrorCode::unsupported, {"shape", "8 dimensions"}, [&] { shape.append(9); });
}

TEST(Shape, RefusesMoreElementsThanMemoryCanHold) {
  expect_error(ErrorCode::out_of_memory, {"[" + std::to_string(kMost) + ", 2]"},
               [] { (Shape{kMost, 2}).elements(); });
  expect_error(ErrorCode::out_of_memory, {"more elements"},
               [] { (Shape{kMost / 2 + 1, 1, 2}).elements(); });
  EXPECT_EQ((Shape{kMost, 1}).elements(), kMost);
}

}  // namespace
}  // namespace clearformer::test
