#include "clearformer/kernels/quantized_matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/packed_matrix.h"
#include "support/closeness.h"
#include "support/guarded.h"
#include "support/integer_products.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

using kernels::PackedMatrix;
using Floats = std::vector<float>;

constexpr MatrixFormat kFormats[] = {MatrixFormat::f16, MatrixFormat::q8_fine, MatrixFormat::q8,
                                     MatrixFormat::q4};
constexpr MatrixFormat kIntegers[] = {MatrixFormat::q8_fine, MatrixFormat::q8, MatrixFormat::q4};

std::string name_of(MatrixFormat format) {
  return concat(to_string(format), format == MatrixFormat::q8_fine ? " fine" : "");
}

struct QuantizedSizes {
  std::size_t m, n, k;
};

Matrix some_matrix(Random& random, MatrixFormat format, std::size_t outputs, std::size_t inputs) {
  return Matrix::of(random.tensor({outputs, inputs}), format);
}

Floats widened(const Matrix& matrix) {
  Floats rows(matrix.outputs() * matrix.inputs());
  for (std::size_t row = 0; row < matrix.outputs(); ++row) {
    matrix.copy_row(row, rows.data() + row * matrix.inputs());
  }
  return rows;
}

Floats product(const PackedMatrix& matrix, const Floats& x,
               const kernels::Epilogue& epilogue = {}) {
  const std::size_t rows = x.size() / matrix.inputs();
  Guarded in(x, 1), out(rows * matrix.outputs(), 3);
  matrix.multiply(in.data(), out.data(), rows, epilogue);
  EXPECT_TRUE(out.intact());
  return out.values();
}

// The inputs as the format uses them: unchanged for f16, otherwise rounded to `limit` steps of the largest.
Floats rounded_rows(const Floats& x, std::size_t k, float limit) {
  Floats rounded;
  for (std::size_t first = 0; first < x.size(); first += k) {
    float largest = 0.0f;
    for (std::size_t i = 0; i < k; ++i) largest = std::max(largest, std::fabs(x[first + i]));
    const float inverse = largest > 0.0f ? limit / largest : 0.0f;
    for (std::size_t i = 0; i < k; ++i) {
      rounded.push_back(std::nearbyint(x[first + i] * inverse) * (largest / limit));
    }
  }
  return rounded;
}

// f16 sums K products of floats. The others sum integers exactly; the roundings are those of the scaled values
// on both sides (4), of the blocks and of their sum.
double roundings_of(MatrixFormat format, std::size_t k) {
  if (format == MatrixFormat::f16) return static_cast<double>(k) + 1.0;
  const double blocks = static_cast<double>((k + block_of(format, k) - 1) / block_of(format, k));
  return 8.0 + 2.0 * blocks;
}

void expect_product(const Matrix& matrix, const Floats& x) {
  const std::size_t k = matrix.inputs(), n = matrix.outputs();
  const Floats weight = widened(matrix);
  const float limit = matrix.format() == MatrixFormat::q4 ? 127.0f : 2047.0f;
  const Floats rows = matrix.format() == MatrixFormat::f16 ? x : rounded_rows(x, k, limit);
  std::vector<double> expected, bounds;
  for (std::size_t m = 0; m < x.size() / k; ++m) {
    for (std::size_t output = 0; output < n; ++output) {
      double sum = 0.0, magnitude = 0.0;
      for (std::size_t i = 0; i < k; ++i) {
        const double term = double{rows[m * k + i]} * double{weight[output * k + i]};
        sum += term;
        magnitude += std::fabs(term);
      }
      expected.push_back(sum);
      bounds.push_back(gamma(roundings_of(matrix.format(), k)) * magnitude);
    }
  }
  expect_close("y", product(PackedMatrix(matrix.slice(0, n)), x), expected, bounds);
}

TEST(QuantizedMatmul, EqualsTheNaiveTwinForAllSmallSizes) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(1);
  const std::size_t widest = 2 * kernels::panel_width() + 1;
  for (const MatrixFormat format : kFormats) {
    for (std::size_t m = 1; m <= 14; ++m) {
      for (std::size_t n = 1; n <= widest; n += m % 3 + 1) {
        for (const std::size_t k : {1u, 3u, 31u, 32u, 33u, 70u, 130u}) {
          SCOPED_TRACE(concat(name_of(format), " M ", m, ", N ", n, ", K ", k));
          expect_product(some_matrix(random, format, n, k), random.list(m * k));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(QuantizedMatmul, EqualsTheNaiveTwinForLargeSizes) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(2);
  for (const MatrixFormat format : kFormats) {
    for (const QuantizedSizes& sizes :
         {QuantizedSizes{64, 96, 384}, QuantizedSizes{1, 300, 1000}, QuantizedSizes{2, 40, 1025},
          QuantizedSizes{1, 40, 2100}, QuantizedSizes{13, 33, 1024},
          QuantizedSizes{29, 70, 4099}}) {
      SCOPED_TRACE(concat(name_of(format), " M ", sizes.m, ", N ", sizes.n, ", K ", sizes.k));
      expect_product(some_matrix(random, format, sizes.n, sizes.k),
                     random.list(sizes.m * sizes.k, -3.0f, 9.0f));
    }
  }
}

// fp32 with the widened weight gives the same bits as f16.
TEST(QuantizedMatmul, HalvesGiveTheBitsOfTheirFloats) {
  Random random(3);
  for (std::size_t m = 1; m <= 7; ++m) {
    const Matrix halves = some_matrix(random, MatrixFormat::f16, 45, 53);
    Tensor floats({45, 53});
    for (std::size_t row = 0; row < 45; ++row) halves.copy_row(row, floats.f32() + row * 53);
    const Floats x = random.list(m * 53);
    expect_same_bits(concat(m, " rows"), product(PackedMatrix(halves.slice(0, 45)), x),
                     product(PackedMatrix(std::move(floats)), x));
  }
}

// Every finite half, including subnormals.
TEST(QuantizedMatmul, EveryHalfIsWidenedExactly) {
  constexpr std::size_t kExponents = 31, kCount = 2 * kExponents * 1024;
  Tensor weights({kCount, 1});
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t sign = i / (kExponents * 1024), rest = i % (kExponents * 1024);
    weights.f32()[i] = float_from_f16(static_cast<std::uint16_t>(sign << 15 | rest));
  }
  const PackedMatrix packed(Matrix::of(weights, MatrixFormat::f16));
  for (const std::size_t rows : {1u, 2u, 5u}) {
    Floats expected;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < kCount; ++i) expected.push_back(weights.f32()[i] + 0.0f);
    }
    expect_same_bits("halves", product(packed, Floats(rows, 1.0f)), expected);
  }
}

// A row's bits do not depend on the other rows.
TEST(QuantizedMatmul, ARowHasTheSameBitsAloneAndInAnyBlock) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(4);
  const std::size_t rows = 26, n = 2 * kernels::panel_width() + 3;
  for (const MatrixFormat format : kFormats) {
    const std::size_t k = format == MatrixFormat::q8 ? 1100 : 75;  // more than a block
    const PackedMatrix matrix(some_matrix(random, format, n, k));
    const Floats x = random.list(rows * k);
    const Floats all = product(matrix, x);
    for (std::size_t first = 0; first < rows; ++first) {
      for (std::size_t count = 1; first + count <= rows; count += 1 + count / 7) {
        const auto at = [](const Floats& list, std::size_t i) {
          return list.begin() + static_cast<std::ptrdiff_t>(i);
        };
        expect_same_bits(concat(name_of(format), ": rows ", first, " to ", first + count),
                         product(matrix, Floats(at(x, first * k), at(x, (first + count) * k))),
                         Floats(at(all, first * n), at(all, (first + count) * n)));
      }
    }
  }
}

TEST(QuantizedMatmul, UnpacksTheRowsOfTheMatrix) {
  Random random(5);
  for (const MatrixFormat format : kFormats) {
    for (const std::size_t n : {1u, 7u, 40u}) {
      for (const std::size_t k : {1u, 32u, 77u, 1024u, 1030u}) {
        const Matrix matrix = some_matrix(random, format, n, k);
        const Floats expected = widened(matrix);
        const PackedMatrix packed(matrix.slice(0, n));
        for (std::size_t row = 0; row < n; ++row) {
          Guarded out(k, 1);
          packed.unpack_row(row, out.data());
          EXPECT_TRUE(out.intact());
          const auto first = expected.begin() + static_cast<std::ptrdiff_t>(row * k);
          expect_same_bits(concat(name_of(format), " row ", row), out.values(),
                           Floats(first, first + static_cast<std::ptrdiff_t>(k)));
        }
      }
    }
  }
}

TEST(QuantizedMatmul, BiasActivationAndResidualFollowTheProduct) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(6);
  const std::size_t rows = 7, n = 45, k = 40;
  for (const MatrixFormat format : {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8_fine,
                                    MatrixFormat::q8, MatrixFormat::q4}) {
    const PackedMatrix matrix(some_matrix(random, format, n, k));
    const Floats x = random.list(rows * k), bias = random.list(n), added = random.list(rows * n);
    const Floats plain = product(matrix, x);
    Floats expected = plain, activated(plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) expected[i] += bias[i % n];
    kernels::gelu_erf(expected.data(), activated.data(), expected.size());
    expect_same_bits("activation",
                     product(matrix, x, {.bias = bias.data(), .activation = kernels::gelu_erf}),
                     activated);
    for (std::size_t i = 0; i < plain.size(); ++i) expected[i] += added[i];
    expect_same_bits(
        "residual",
        product(matrix, x, {.bias = bias.data(), .residual = added.data(), .residual_stride = n}),
        expected);
  }
}

// Rounding to integers must not turn NaN or infinity into a number.
TEST(QuantizedMatmul, InputsThatAreNotFiniteMakeNaNOfTheirRowAlone) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(7);
  const std::size_t n = 19, k = 37;
  for (const MatrixFormat format : kIntegers) {
    const PackedMatrix matrix(some_matrix(random, format, n, k));
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      Floats x = random.list(3 * k);
      const Floats before = product(matrix, x);
      x[k + 5] = bad;
      const Floats y = product(matrix, x);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (i / n == 1) {
          EXPECT_TRUE(std::isnan(y[i])) << name_of(format) << " " << bad << " at " << i;
        } else {
          EXPECT_EQ(y[i], before[i]);
        }
      }
    }
  }
}

// Each block has its own scale: one far smaller than its neighbours is still exact.
TEST(QuantizedMatmul, BlocksHaveScalesOfTheirOwn) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  for (const MatrixFormat format : {MatrixFormat::q8_fine, MatrixFormat::q8}) {
    const std::size_t block = format == MatrixFormat::q8 ? 512 : 64, k = 2 * block + 5, n = 35;
    ASSERT_EQ(block_of(format, k), block);
    Tensor weight({n, k});
    for (std::size_t i = 0; i < n * k; ++i) {
      const float size = std::ldexp(1.0f, -10 * static_cast<int>(i % k / block));
      weight.f32()[i] = static_cast<float>(static_cast<int>(i / k + i % 127) - 80) * size;
    }
    for (std::size_t output = 0; output < n; ++output) {  // the ends of all ranges occur
      for (std::size_t first = 0; first < k; first += block) {
        weight.f32()[output * k + first] =
            std::ldexp(127.0f, -10 * static_cast<int>(first / block));
      }
    }
    const PackedMatrix matrix(Matrix::of(weight, format));
    for (std::size_t input = 0; input < k; input += 21) {
      for (const std::size_t rows : {1u, 2u, 9u}) {
        Floats x(rows * k, 0.0f);
        for (std::size_t row = 0; row < rows; ++row) x[row * k + input] = 1.0f;
        const Floats y = product(matrix, x);
        for (std::size_t i = 0; i < y.size(); ++i) {
          const float expected = weight.f32()[i % n * k + input];
          EXPECT_NEAR(y[i], expected, gamma(8.0) * std::fabs(expected))
              << name_of(format) << ", input " << input;
        }
      }
    }
  }
}

#if !defined(__EMSCRIPTEN__)
TEST(QuantizedMatmul, KnowsThatItsAnswersAreRight) {
  EXPECT_TRUE(kernels::integer_products_are_right());
}
#endif

TEST(QuantizedMatmul, RowsOfZerosGiveZerosAndHugeRowsKeepTheirSize) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(8);
  for (const MatrixFormat format : kIntegers) {
    const Matrix matrix = some_matrix(random, format, 9, 33);
    for (const float y : product(PackedMatrix(matrix.slice(0, 9)), Floats(33, 0.0f))) {
      EXPECT_EQ(y, 0.0f);
    }
    expect_product(matrix, random.list(33, -1e30f, 1e30f));
  }
}

}  // namespace
}  // namespace clearformer::test
