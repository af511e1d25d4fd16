#include "clearformer/tensor/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "clearformer/tensor/rotation.h"
#include "clearformer/tensor/rounding.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr MatrixFormat kFormats[] = {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8_fine,
                                     MatrixFormat::q8, MatrixFormat::q4};
constexpr float kFloatEpsilon = std::numeric_limits<float>::epsilon();

std::vector<float> row_of(const Matrix& matrix, std::size_t output) {
  std::vector<float> row(matrix.inputs());
  matrix.copy_row(output, row.data());
  return row;
}

TEST(MatrixFormat, HasTheNamesOfLoadOptions) {
  for (const MatrixFormat format : kFormats) {
    const bool fine = format == MatrixFormat::q8_fine;
    EXPECT_EQ(matrix_format_named(to_string(format)), fine ? MatrixFormat::q8 : format);
  }
  EXPECT_EQ(matrix_format_named("q8"), MatrixFormat::q8);
  for (const char* other : {"", "q2", "Q8", "fp32 ", "float32", "int8"}) {
    EXPECT_FALSE(matrix_format_named(other)) << other;
  }
}

// Every binary16 is exact; values in between round to the nearer neighbour, midpoints to even.
TEST(HalfFloats, AreRoundedToNearestEven) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const auto here = static_cast<std::uint16_t>(bits), next = static_cast<std::uint16_t>(bits + 1);
    const float low = float_from_f16(here);
    const float high = bits + 1 == 0x7c00 ? 65536.0f : float_from_f16(next);
    const float middle = 0.5f * (low + high);
    const auto even = bits % 2 == 0 ? here : next;
    ASSERT_EQ(f16_from_float(low), here) << bits;
    ASSERT_EQ(f16_from_float(-low), here | 0x8000) << bits;
    ASSERT_EQ(f16_from_float(middle), even) << bits;
    ASSERT_EQ(f16_from_float(std::nextafter(middle, low)), here) << bits;
    ASSERT_EQ(f16_from_float(std::nextafter(middle, high)), next) << bits;
  }
  EXPECT_EQ(f16_from_float(INFINITY), 0x7c00);
  EXPECT_EQ(f16_from_float(3e38f), 0x7c00);
  EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(NAN))));
}

TEST(BrainFloats, AreRoundedToNearestEven) {
  for (unsigned bits = 0; bits < 0x7f80; ++bits) {
    const auto here = static_cast<std::uint16_t>(bits);
    const float low = float_from_bf16(here);
    const auto wide = std::bit_cast<std::uint32_t>(low);
    const float middle = std::bit_cast<float>(wide + 0x8000u);
    ASSERT_EQ(bf16_from_float(low), here);
    ASSERT_EQ(bf16_from_float(middle), bits % 2 == 0 ? here : here + 1);
    ASSERT_EQ(bf16_from_float(std::bit_cast<float>(wide + 0x7fffu)), here);
    ASSERT_EQ(bf16_from_float(std::bit_cast<float>(wide + 0x8001u)), here + 1);
    ASSERT_EQ(bf16_from_float(-low), here | 0x8000);
  }
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(NAN))));
}

// --- Rows, of all lengths around blocks and vectors -----------------------------------------------

class MatrixOf : public ::testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::size_t kOutputs = 5;
  std::size_t inputs = GetParam();
  // Rows: uniform numbers, a normal distribution with outliers, tiny, huge and constant ones.
  Tensor rows = [this] {
    Tensor made = Random(inputs).tensor({kOutputs, inputs});
    for (std::size_t k = 0; k < inputs; ++k) {
      float* column = made.f32() + k;
      column[inputs] *= column[inputs] * column[inputs] * (k % 29 == 3 ? 8.0f : 1.0f);
      column[2 * inputs] *= 1e-6f;
      column[3 * inputs] *= 1e4f;
      column[4 * inputs] = -0.75f;
    }
    return made;
  }();
  const float* row(std::size_t output) const { return rows.f32() + output * inputs; }
};

TEST_P(MatrixOf, F32HoldsEveryBit) {
  const Matrix matrix = Matrix::of(rows, MatrixFormat::f32);
  EXPECT_EQ(std::memcmp(matrix.values().data(), rows.data(), rows.view().bytes()), 0);
}

TEST_P(MatrixOf, F16IsTheNearestHalfFloat) {
  const Matrix matrix = Matrix::of(rows, MatrixFormat::f16);
  ASSERT_EQ(matrix.format(), MatrixFormat::f16);
  for (std::size_t output = 0; output < kOutputs; ++output) {
    const std::vector<float> found = row_of(matrix, output);
    for (std::size_t k = 0; k < inputs; ++k) {
      EXPECT_EQ(found[k], float_from_f16(f16_from_float(row(output)[k])));
    }
  }
}

double squared_error(const float* values, std::size_t count, double scale, int low, int high) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = scale == 0.0
                         ? 0.0
                         : std::clamp(std::nearbyint(values[i] / scale), double(low), double(high));
    sum += (values[i] - scale * u) * (values[i] - scale * u);
  }
  return sum;
}

// Each element is at the nearest point of its grid, and the grid is no worse than that of the
// naive twin, whose scale maps the largest magnitude to the end of the range.
void expect_grid(const float* values, const float* found, std::size_t count, float scale, int low,
                 int high, double scale_error) {
  double error = 0.0, sum = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = scale == 0.0f ? 0.0 : found[i] / static_cast<double>(scale);
    EXPECT_NEAR(u, std::nearbyint(u), 1e-4);
    EXPECT_GE(u, low - 1e-4);
    EXPECT_LE(u, high + 1e-4);
    const double off = values[i] - static_cast<double>(found[i]);
    const double slack = 4.0 * kFloatEpsilon * (std::fabs(values[i]) + std::fabs(scale));
    for (const int step : {-1, 1}) {
      const double other = std::nearbyint(u) + step;
      if (other < low || other > high) continue;
      EXPECT_LE(std::fabs(off), std::fabs(values[i] - scale * other) + slack) << "element " << i;
    }
    error += off * off;
    sum += static_cast<double>(values[i]) * values[i];
    largest = std::max(largest, std::fabs(static_cast<double>(values[i])));
  }
  const double naive = squared_error(values, count, largest / std::min(-low, high), low, high);
  EXPECT_LE(error, naive * 1.0001 + scale_error * scale_error * sum);
}

TEST_P(MatrixOf, IntegersAreNearestOnAGridForEachBlockOfTheRotatedRow) {
  for (const MatrixFormat format : {MatrixFormat::q8_fine, MatrixFormat::q8, MatrixFormat::q4}) {
    const Matrix matrix = Matrix::of(rows, format);
    ASSERT_EQ(matrix.format(), format);
    const std::size_t blocks = blocks_of(inputs);
    const bool nibbles = format == MatrixFormat::q4;
    ASSERT_EQ(matrix.scales().shape(), (Shape{kOutputs, blocks}));
    ASSERT_EQ(matrix.values().shape(), (Shape{kOutputs, blocks * kBlock / (nibbles ? 2 : 1)}));
    const auto* scales = static_cast<const std::uint16_t*>(matrix.scales().data());
    const auto* values = static_cast<const std::uint8_t*>(matrix.values().data());
    for (std::size_t output = 0; output < kOutputs; ++output) {
      for (std::size_t block = 0; block < blocks; ++block) {
        float rotated[kBlock] = {}, found[kBlock];
        const std::size_t first = block * kBlock;
        std::copy_n(row(output) + first, std::min(kBlock, inputs - first), rotated);
        rotate(rotated);
        for (std::size_t i = 0; i < kBlock; ++i) {
          const std::size_t at = (output * blocks + block) * kBlock + i;
          const int number = nibbles ? (values[at / 2] >> (at % 2 * 4) & 15) - 8 : values[at] - 128;
          found[i] = float_from_bf16(scales[at / kBlock]) * static_cast<float>(number);
        }
        SCOPED_TRACE(concat("row ", output, ", block ", block));
        expect_grid(rotated, found, kBlock, float_from_bf16(scales[output * blocks + block]),
                    nibbles ? -8 : -127, nibbles ? 7 : 127, std::ldexp(1.0, -8));  // bfloat16
      }
    }
  }
}

// Rotated twice, a row is what it was: the matrix is orthogonal and symmetric.
TEST(Rotation, IsHadamardsMatrixAndItsOwnInverse) {
  Random random(1);
  const std::vector<float> numbers = random.list(kBlock);
  float block[kBlock];
  std::copy(numbers.begin(), numbers.end(), block);
  rotate(block);
  for (std::size_t i = 0; i < kBlock; ++i) {
    double sum = 0.0, magnitude = 0.0;
    for (std::size_t j = 0; j < kBlock; ++j) {
      sum += (std::popcount(i & j) % 2 == 0 ? 1.0 : -1.0) * double{numbers[j]} / 8.0;
      magnitude += std::fabs(double{numbers[j]}) / 8.0;
    }
    EXPECT_NEAR(block[i], sum, gamma(7.0) * magnitude) << i;
  }
  rotate(block);
  for (std::size_t i = 0; i < kBlock; ++i) EXPECT_NEAR(block[i], numbers[i], 1e-6f);
}

TEST_P(MatrixOf, SlicesAndWidensAnyRows) {
  for (const MatrixFormat format : kFormats) {
    const Matrix matrix = Matrix::of(rows, format);
    const Matrix wide = matrix.widened();
    EXPECT_EQ(wide.format(), MatrixFormat::f32);
    for (std::size_t first = 0; first < kOutputs; ++first) {
      const Matrix part = matrix.slice({first, kOutputs - first});
      EXPECT_EQ(part.format(), format);
      EXPECT_EQ(part.outputs(), kOutputs - first);
      for (std::size_t output = first; output < kOutputs; ++output) {
        EXPECT_EQ(row_of(part, output - first), row_of(matrix, output));
        EXPECT_EQ(row_of(wide, output), row_of(matrix, output));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, MatrixOf,
                         ::testing::Values(1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100,
                                           512, 1024, 1025, 1030),
                         [](const auto& inputs) { return std::to_string(inputs.param); });

// --- Formats -----------------------------------------------------------------------------------------

TEST(Matrix, TakesTheBytesThatItSays) {
  const Tensor rows = Random(1).tensor({3, 40});
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::f32).bytes(), 3u * 40 * 4);
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::f16).bytes(), 3u * 40 * 2);
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::q8).bytes(), 3u * (64 + 4));
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::q8_fine).bytes(), 3u * (64 + 4));
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::q4).bytes(), 3u * (32 + 2));
  const Tensor longer = Random(1).tensor({3, 1100});
  EXPECT_EQ(Matrix::of(longer, MatrixFormat::q8).bytes(), 3u * 18 * (64 + 4));
  EXPECT_EQ(Matrix::of(longer, MatrixFormat::q4).bytes(), 3u * 18 * (32 + 2));
}

// A row that is `numbers` once it is rotated, and whose last block is only partly used.
Tensor rotated_back(float (&numbers)[kBlock]) {
  rotate(numbers);
  Tensor row({1, kBlock});
  std::copy_n(numbers, kBlock, row.f32());
  return row;
}

// The packed forms read these bytes.
TEST(Matrix, StoresQ8AroundItsMiddle) {
  float numbers[kBlock];
  for (std::size_t k = 0; k < kBlock; ++k) numbers[k] = 0.5f * (4.0f * k - 125.0f);
  numbers[0] = -0.5f * 127.0f;
  const Matrix matrix = Matrix::of(rotated_back(numbers), MatrixFormat::q8);
  EXPECT_EQ(float_from_bf16(*static_cast<const std::uint16_t*>(matrix.scales().data())), 0.5f);
  const auto* stored = static_cast<const std::uint8_t*>(matrix.values().data());
  EXPECT_EQ(stored[0], 1);
  for (std::size_t k = 1; k < kBlock; ++k) EXPECT_EQ(stored[k], 4 * k + 3) << k;
}

TEST(Matrix, StoresQ4InPairsLowHalfFirst) {
  float numbers[kBlock];
  for (std::size_t k = 0; k < kBlock; ++k) {
    numbers[k] = 0.25f * (static_cast<float>(k % 16) - 8.0f);
  }
  const Matrix matrix = Matrix::of(rotated_back(numbers), MatrixFormat::q4);
  EXPECT_EQ(matrix.values().shape(), (Shape{1, 32}));
  const auto* scales = static_cast<const std::uint16_t*>(matrix.scales().data());
  EXPECT_EQ(float_from_bf16(scales[0]), 0.25f);
  const auto* stored = static_cast<const std::uint8_t*>(matrix.values().data());
  for (std::size_t k = 0; k < kBlock; ++k) EXPECT_EQ(stored[k / 2] >> (k % 2 * 4) & 15, k % 16);
}

TEST(Matrix, LeavesRoomForAWholePanel) {
  for (const MatrixFormat format : kFormats) {
    const Matrix matrix(format, 33, 8);
    EXPECT_GE(matrix.values().capacity(), matrix.values().elements() / 33 * 64);
  }
}

// --- Rows at the limits of the formats -----------------------------------------------------------

TEST(Matrix, WhatAFormatCannotHoldStaysF32BitForBit) {
  for (const MatrixFormat format :
       {MatrixFormat::f16, MatrixFormat::q8_fine, MatrixFormat::q8, MatrixFormat::q4}) {
    for (const float wrong : {NAN, INFINITY, -INFINITY, 1.1e37f}) {
      Tensor rows = Random(2).tensor({2, 33});
      rows.f32()[50] = wrong;
      const Matrix matrix = Matrix::of(rows, format);
      EXPECT_EQ(matrix.format(), MatrixFormat::f32) << to_string(format) << " of " << wrong;
      EXPECT_EQ(std::memcmp(matrix.values().data(), rows.data(), rows.view().bytes()), 0);
    }
  }
  Tensor rows = Random(2).tensor({1, 4});
  rows.f32()[1] = -65504.0f;
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::f16).format(), MatrixFormat::f16);
  rows.f32()[1] = 65505.0f;
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::f16).format(), MatrixFormat::f32);
  EXPECT_EQ(Matrix::of(rows, MatrixFormat::q8).format(), MatrixFormat::q8);
}

TEST(Matrix, HugeTinyAndZeroRowsStayFinite) {
  for (const MatrixFormat format : {MatrixFormat::q8_fine, MatrixFormat::q8, MatrixFormat::q4}) {
    for (const float size : {1e37f, 1e30f, 1e-29f, 1e-37f, 1e-45f, 0.0f}) {
      Tensor rows = Random(3).tensor({1, 70});
      for (std::size_t k = 0; k < 70; ++k) rows.f32()[k] *= size;
      const Matrix matrix = Matrix::of(rows, format);
      const std::vector<float> found = row_of(matrix, 0);
      for (std::size_t k = 0; k < 70; ++k) {
        EXPECT_NEAR(found[k], rows.f32()[k],
                    size * (format == MatrixFormat::q4 ? 0.2 : 0.01) + 1e-30)
            << to_string(format) << " of size " << size;
      }
    }
  }
}

TEST(Matrix, AnEmptyTensorGivesAnEmptyMatrix) {
  EXPECT_TRUE(Matrix().empty());
  EXPECT_TRUE(Matrix(Tensor()).empty());
  EXPECT_EQ(Matrix().bytes(), 0u);
}

TEST(Matrix, SizesBeyondTheAddressSpaceAreRefused) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const MatrixFormat format : {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8_fine,
                                    MatrixFormat::q8, MatrixFormat::q4}) {
    SCOPED_TRACE(to_string(format));
    for (const std::size_t inputs : {kMost - 3, kMost / 15, kMost / 2}) {
      expect_error(ErrorCode::out_of_memory, {}, [&] { Matrix(format, 1, inputs); });
      expect_error(ErrorCode::out_of_memory, {}, [&] { Matrix(format, inputs, 70); });
    }
  }
}

TEST(Matrix, RowsHaveTwoAxes) {
  for (const Shape& shape : {Shape{4}, Shape{2, 3, 4}}) {
    expect_error(ErrorCode::shape_mismatch, {"matrix", shape.text()},
                 [&] { Matrix::of(Tensor::zeros(shape), MatrixFormat::q8); });
    expect_error(ErrorCode::shape_mismatch, {"matrix", shape.text()},
                 [&] { Matrix(Tensor::zeros(shape)); });
  }
}

TEST(Matrix, RowsAreFloats) {
  for (const DType dtype : {DType::u8, DType::f16, DType::i32}) {
    expect_error(ErrorCode::dtype_mismatch, {"[2, 3]", "expected float32"},
                 [&] { Matrix::of(Tensor::zeros({2, 3}, dtype), MatrixFormat::q8); });
    expect_error(ErrorCode::dtype_mismatch, {"[2, 3]", "expected float32"},
                 [&] { Matrix(Tensor::zeros({2, 3}, dtype)); });
  }
}

}  // namespace
}  // namespace clearformer::test
