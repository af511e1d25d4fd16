// Singular value decompositions: factors with orthonormal vectors whose product is the matrix.
#include "clearformer/layers/svd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr double kSvdEpsilon = std::numeric_limits<float>::epsilon();

Tensor product_in_double(const Tensor& a, const Tensor& b) {
  Tensor out({a.dim(0), b.dim(1)});
  for (std::size_t i = 0; i < out.elements(); ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < a.dim(1); ++k) {
      sum += static_cast<double>(a.f32()[i / b.dim(1) * a.dim(1) + k]) *
             b.f32()[k * b.dim(1) + i % b.dim(1)];
    }
    out.f32()[i] = static_cast<float>(sum);
  }
  return out;
}

// Rounded factors: each of U, S and Vh is off by half an epsilon, relative to the largest singular value.
void expect_factors(const Svd& found, const Tensor& x) {
  const std::size_t rows = x.dim(0), columns = x.dim(1), rank = found.s.elements();
  ASSERT_EQ(found.u.shape().text(), (Shape{rows, rank}).text());
  ASSERT_EQ(found.vh.shape().text(), (Shape{rank, columns}).text());
  const float* const s = found.s.f32();
  const double bound = 2.0 * kSvdEpsilon * (1.0 + s[0]) * std::sqrt(static_cast<double>(rank));
  for (std::size_t i = 0; i < x.elements(); ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < rank; ++k) {
      sum += static_cast<double>(found.u.f32()[i / columns * rank + k]) * s[k] *
             found.vh.f32()[k * columns + i % columns];
    }
    ASSERT_NEAR(sum, x.f32()[i], bound) << i;
  }
  for (std::size_t one = 0; one < rank; ++one) {
    if (one != 0) {
      EXPECT_LE(s[one], s[one - 1]);
    }
    for (std::size_t other = 0; other <= one; ++other) {
      double left = 0.0, right = 0.0;
      for (std::size_t i = 0; i < rows; ++i) {
        left +=
            static_cast<double>(found.u.f32()[i * rank + one]) * found.u.f32()[i * rank + other];
      }
      for (std::size_t i = 0; i < columns; ++i) {
        right += static_cast<double>(found.vh.f32()[one * columns + i]) *
                 found.vh.f32()[other * columns + i];
      }
      if (s[one] <= 1e-12f * s[0]) continue;  // vectors of rank that the matrix does not have
      ASSERT_NEAR(left, one == other ? 1.0 : 0.0, 4.0 * kSvdEpsilon);
      ASSERT_NEAR(right, one == other ? 1.0 : 0.0, 4.0 * kSvdEpsilon);
    }
  }
}

TEST(Svd, OfMatricesOfEveryShape) {
  for (const Shape& shape : {Shape{1, 1}, Shape{7, 3}, Shape{3, 7}, Shape{12, 12}, Shape{1, 5}}) {
    const Tensor x = Random(7).tensor(shape);
    expect_factors(svd(x), x);
  }
}

TEST(Svd, OfProductsWithoutFormingThem) {
  for (const auto& [rows, inner, columns] : {std::tuple(9, 3, 11), {4, 6, 5}, {1, 1, 1}}) {
    const auto m = static_cast<std::size_t>(rows), r = static_cast<std::size_t>(inner),
               n = static_cast<std::size_t>(columns);
    const Tensor a = Random(1).tensor({m, r}), b = Random(2).tensor({r, n});
    expect_factors(svd(a, b), product_in_double(a, b));
  }
}

TEST(Svd, KnownValuesOverManyMagnitudes) {
  Tensor x = Tensor::zeros({4, 4});
  const float values[] = {1e-20f, 3.0f, 1e20f, 0.0f};
  for (std::size_t i = 0; i < 4; ++i) x.f32()[i * 4 + 3 - i] = values[i];
  const Svd found = svd(x);
  const float expected[] = {1e20f, 3.0f, 1e-20f, 0.0f};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found.s.f32()[i], expected[i]);
}

TEST(Svd, OfDependentColumnsHasZeros) {
  Tensor x = Random(3).tensor({6, 1}), twice({6, 2});
  for (std::size_t i = 0; i < 12; ++i) twice.f32()[i] = x.f32()[i / 2];
  const Svd found = svd(twice);
  expect_factors(found, twice);
  EXPECT_LE(found.s.f32()[1], 1e-13f * found.s.f32()[0]);
  twice.f32()[3] = std::numeric_limits<float>::quiet_NaN();
  expect_error(ErrorCode::invalid_argument, {"svd"}, [&] { svd(twice); });
  expect_error(ErrorCode::shape_mismatch, {"[6]"}, [&] { svd(x.view().reshaped({6})); });
  expect_error(ErrorCode::shape_mismatch, {"have no product"}, [&] { svd(x, x); });
}

// Its rotations are a matrix of N² numbers, a count that wraps around to 0.
TEST(Svd, RefusesAProductOverMoreThanMemoryHolds) {
  constexpr std::size_t kMany = std::size_t{1} << (4 * sizeof(std::size_t));
  const Tensor a({0, kMany}), b({kMany, 0});
  expect_error(ErrorCode::out_of_memory, {"shape"}, [&] { svd(a, b); });
}

}  // namespace
}  // namespace clearformer::test
