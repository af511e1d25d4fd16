#include "clearformer/kernels/quantized_matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/tensor/rotation.h"
#include "support/closeness.h"
#include "support/guarded.h"
#include "support/integer_products.h"
#include "support/packed_product.h"
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

// A row of a product, rotated and rounded: integers, and a scale for each block.
struct Rounded {
  std::vector<int> numbers;
  Floats scales;
};

Rounded weights_of(const Matrix& matrix, std::size_t output) {
  const std::size_t k = blocks_of(matrix.inputs()) * kBlock;
  const auto* values = static_cast<const std::uint8_t*>(matrix.values().data());
  const auto* scales = static_cast<const std::uint16_t*>(matrix.scales().data());
  Rounded row;
  for (std::size_t i = output * k; i < (output + 1) * k; ++i) {
    row.numbers.push_back(matrix.format() == MatrixFormat::q4
                              ? (values[i / 2] >> (i % 2 * 4) & 15) - 8
                              : values[i] - 128);
    if (i % kBlock == 0) row.scales.push_back(float_from_bf16(scales[i / kBlock]));
  }
  return row;
}

// x: one row, rounded to `limit` steps of the largest of a block.
Rounded inputs_of(const float* x, std::size_t k, MatrixFormat format) {
  const float limit = format == MatrixFormat::q8_fine ? 4095.0f
                      : format == MatrixFormat::q8    ? 63.0f
                                                      : 127.0f;
  Rounded row;
  for (std::size_t first = 0; first < k; first += kBlock) {
    float numbers[kBlock] = {};
    std::copy_n(x + first, std::min(kBlock, k - first), numbers);
    rotate(numbers);
    float largest = 0.0f;
    for (const float number : numbers) largest = std::max(largest, 8.0f * std::fabs(number));
    const float inverse = largest > 0.0f ? limit / largest : 0.0f;
    for (const float number : numbers) {
      row.numbers.push_back(static_cast<int>(std::nearbyint(8.0f * number * inverse)));
    }
    row.scales.push_back(largest * (0.125f / limit));
  }
  return row;
}

// Every target gives the bits of this sum: integers are summed exactly, blocks in order.
float naive_sum(const Rounded& inputs, const Rounded& weights) {
  float total = 0.0f;
  for (std::size_t i = 0; i < inputs.scales.size(); ++i) {
    int sum = 0;
    for (std::size_t k = i * kBlock; k < (i + 1) * kBlock; ++k) {
      sum += inputs.numbers[k] * weights.numbers[k];
    }
    const float scale = weights.scales[i] * inputs.scales[i];
    const float product = static_cast<float>(sum) * scale;
    total += product;
  }
  return total;
}

// What a product must be: the bits of the naive twin, or with halves, in another order of sums, numbers and bounds.
struct Expected {
  Floats same;
  std::vector<double> close, bounds;

  // The first rows alone, each of `n` numbers.
  Expected rows(std::size_t count, std::size_t n) const {
    const auto first = [&](const auto& list) {
      const auto end = static_cast<std::ptrdiff_t>(std::min(list.size(), count * n));
      return std::decay_t<decltype(list)>(list.begin(), list.begin() + end);
    };
    return {first(same), first(close), first(bounds)};
  }
};

Expected expected_of_halves(const Matrix& matrix, const Floats& x) {
  const std::size_t k = matrix.inputs(), n = matrix.outputs();
  const Floats weight = widened(matrix);
  Expected expected;
  for (std::size_t m = 0; m < x.size() / k; ++m) {
    for (std::size_t output = 0; output < n; ++output) {
      double sum = 0.0, magnitude = 0.0;
      for (std::size_t i = 0; i < k; ++i) {
        const double term = double{x[m * k + i]} * double{weight[output * k + i]};
        sum += term;
        magnitude += std::fabs(term);
      }
      expected.close.push_back(sum);
      expected.bounds.push_back(gamma(static_cast<double>(k) + 1.0) * magnitude);
    }
  }
  return expected;
}

Expected expected_of(const Matrix& matrix, const Floats& x) {
  if (matrix.format() == MatrixFormat::f16) return expected_of_halves(matrix, x);
  const std::size_t k = matrix.inputs(), n = matrix.outputs();
  std::vector<Rounded> weights;
  for (std::size_t output = 0; output < n; ++output) weights.push_back(weights_of(matrix, output));
  Expected expected;
  for (std::size_t row = 0; row < x.size(); row += k) {
    const Rounded inputs = inputs_of(x.data() + row, k, matrix.format());
    for (const Rounded& output : weights) expected.same.push_back(naive_sum(inputs, output));
  }
  return expected;
}

void expect_product(const PackedMatrix& matrix, const Floats& x, const Expected& expected) {
  const Floats y = product(matrix, x);
  if (expected.same.empty()) {
    expect_close("y", y, expected.close, expected.bounds);
  } else {
    expect_same_bits("y", y, expected.same);
  }
}

void expect_product(const Matrix& matrix, const Floats& x) {
  expect_product(PackedMatrix(matrix.slice({0, matrix.outputs()})), x, expected_of(matrix, x));
}

// The naive twin's rows do not depend on each other: those of the highest product serve the lower ones.
TEST(QuantizedMatmul, EqualsTheNaiveTwinForAllSmallSizes) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(1);
  const std::size_t widest = 2 * kernels::panel_width() + 1, highest = 14;
  for (const MatrixFormat format : kFormats) {
    for (std::size_t n = 1; n <= widest; ++n) {
      for (const std::size_t k : {1u, 3u, 31u, 32u, 33u, 70u, 130u}) {
        const Matrix matrix = some_matrix(random, format, n, k);
        const PackedMatrix packed(matrix.slice({0, n}));
        const Floats x = random.list(highest * k);
        const Expected expected = expected_of(matrix, x);
        for (std::size_t m = 1; m <= highest; ++m) {
          if ((n - 1) % (m % 3 + 1) != 0) continue;
          SCOPED_TRACE(concat(name_of(format), " M ", m, ", N ", n, ", K ", k));
          const Floats rows(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(m * k));
          expect_product(packed, rows, expected.rows(m, n));
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
    for (std::size_t panels = 1; panels <= 17; ++panels) {  // up to eight at once
      const std::size_t n = panels * kernels::panel_width() - panels % 3;
      SCOPED_TRACE(concat(name_of(format), " N ", n));
      expect_product(some_matrix(random, format, n, 130), random.list(130));
    }
  }
}

// A row's bits do not depend on the other rows.
TEST(QuantizedMatmul, ARowHasTheSameBitsAloneAndInAnyBlock) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(4);
  const std::size_t rows = 26, n = 9 * kernels::panel_width() + 3;
  for (const MatrixFormat format : kFormats) {
    const std::size_t k = 150;  // more than a block
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
        const PackedMatrix packed(matrix.slice({0, n}));
        for (std::size_t row = 0; row < n; ++row) {
          Guarded out(k, 1);
          packed.copy_row(row, out.data());
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
  const std::size_t n = 5 * kernels::panel_width() - 3, k = 40;
  const auto check = [&](std::size_t rows, MatrixFormat format) {
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
  };
  for (const MatrixFormat format : {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8_fine,
                                    MatrixFormat::q8, MatrixFormat::q4}) {
    for (const std::size_t rows : {1u, 7u}) check(rows, format);
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

// Each block has its own scales: one far smaller than its neighbours has no larger relative error, in weights or inputs.
TEST(QuantizedMatmul, BlocksHaveScalesOfTheirOwn) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  Random random(9);
  const std::size_t k = 2 * kBlock + 5, n = 35;
  for (const MatrixFormat format : kIntegers) {
    Tensor weight({n, k});
    Floats x;
    for (const std::size_t only : {0u, 1u, 2u}) {  // the block whose inputs are not zero
      Floats row(k, 0.0f);
      for (std::size_t i = 0; i < k; ++i) {
        const float size = std::ldexp(1.0f, -20 * static_cast<int>(i / kBlock));
        for (std::size_t output = 0; output < n; ++output) {
          weight.f32()[output * k + i] = random.uniform() * size;
        }
        if (i / kBlock == only) row[i] = random.uniform() / size;
      }
      x.insert(x.end(), row.begin(), row.end());
    }
    const PackedMatrix matrix(Matrix::of(weight, format));
    const float steps = format == MatrixFormat::q4 ? 7.0f : 63.0f;
    const Floats y = product(matrix, x);
    for (std::size_t i = 0; i < y.size(); ++i) {
      double sum = 0.0, inputs = 0.0, weights = 0.0;
      for (std::size_t at = 0; at < k; ++at) {
        const double input = x[i / n * k + at], number = weight.f32()[i % n * k + at];
        sum += input * number;
        if (input != 0.0) weights += number * number;
        inputs += input * input;
      }
      // Each side is off by half a step of its largest number, which is at most the block's norm.
      const double norm = std::sqrt(inputs * weights);
      EXPECT_NEAR(y[i], sum, norm * 8.0 / steps) << name_of(format) << ", element " << i;
      EXPECT_NE(y[i], 0.0f);
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
    for (const float y : product(PackedMatrix(matrix.slice({0, 9})), Floats(33, 0.0f))) {
      EXPECT_EQ(y, 0.0f);
    }
    expect_product(matrix, random.list(33, -1e30f, 1e30f));
  }
}

}  // namespace
}  // namespace clearformer::test
