#include "clearformer/kernels/norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/closeness.h"
#include "support/fixture.h"
#include "support/guarded.h"
#include "support/naive_kernels.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

struct Result {
  std::vector<float> centered, scale, normalized;
};

Result layer_norm(const std::vector<float>& x, std::size_t columns, float eps,
                  std::size_t offset = 1) {
  const std::size_t rows = x.size() / columns;
  Guarded in(x, offset), centered(x.size(), offset + 1), scale(rows, 1);
  kernels::center_rows(in.data(), centered.data(), scale.data(), rows, columns, eps);
  Guarded normalized(centered.values(), 2);
  kernels::divide_rows(normalized.data(), scale.data(), normalized.data(), rows, columns);
  EXPECT_TRUE(centered.intact() && scale.intact() && normalized.intact());
  return {centered.values(), scale.values(), normalized.values()};
}

Result rms_norm(const std::vector<float>& x, std::size_t columns, float eps) {
  const std::size_t rows = x.size() / columns;
  Guarded in(x, 1), scale(rows, 1), normalized(x.size(), 3);
  kernels::root_mean_square(in.data(), scale.data(), rows, columns, eps);
  kernels::divide_rows(in.data(), scale.data(), normalized.data(), rows, columns);
  EXPECT_TRUE(scale.intact() && normalized.intact());
  return {x, scale.values(), normalized.values()};
}

// The double sums have an error of n·2⁻⁵³ of the largest |x|; the mean is used as two floats, with an error
// of u² of it. The centered value has that error plus two roundings, of x - high and of the rest
// (which is at most u·|mean|, so its rounding is within that u² too); the scale has the error of the centered
// values plus one rounding; the quotient rounds once more.
void expect_right(const Result& actual, const naive::Normalized& expected,
                  const std::vector<float>& x, std::size_t columns) {
  const double n = static_cast<double>(columns);
  std::vector<double> centered, normalized, scale;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto row = x.begin() + static_cast<int>(i / columns * columns);
    double largest = 0.0;
    for (auto value = row; value < row + static_cast<int>(columns); ++value) {
      largest = std::max(largest, std::abs(double{*value}));
    }
    const double noise = (n * 0x1p-53 + 2.0 * kRoundoff * kRoundoff) * largest;
    const double divisor = expected.scale[i / columns];
    centered.push_back(gamma(2) * std::abs(expected.centered[i]) + noise);
    if (i % columns == 0) scale.push_back(gamma(4) * divisor + noise);
    normalized.push_back((gamma(7) * std::abs(expected.normalized[i])) +
                         (1.0 + std::abs(expected.normalized[i])) * noise / divisor);
  }
  expect_close("centered", actual.centered, expected.centered, centered);
  expect_close("scale", actual.scale, expected.scale, scale);
  expect_close("normalized", actual.normalized, expected.normalized, normalized);
}

TEST(LayerNorm, EqualsTheNaiveTwinForAllSizes) {
  Random random(1);
  for (std::size_t columns = 1; columns <= 33; ++columns) {
    for (std::size_t rows = 1; rows <= 3; ++rows) {
      SCOPED_TRACE(concat(rows, " rows of ", columns));
      const auto x = random.list(rows * columns, -2, 5);
      expect_right(layer_norm(x, columns, 1e-5f, columns % 4),
                   naive::layer_norm(x, columns, double{1e-5f}), x, columns);
    }
  }
  const auto x = random.list(2 * 4097, -2, 5);
  expect_right(layer_norm(x, 4097, 1e-5f), naive::layer_norm(x, 4097, double{1e-5f}), x, 4097);
}

TEST(RmsNorm, EqualsTheNaiveTwinForAllSizes) {
  Random random(2);
  for (std::size_t columns = 1; columns <= 33; ++columns) {
    for (std::size_t rows = 1; rows <= 3; ++rows) {
      SCOPED_TRACE(concat(rows, " rows of ", columns));
      const auto x = random.list(rows * columns, -2, 5);
      expect_right(rms_norm(x, columns, 1e-6f), naive::rms_norm(x, columns, double{1e-6f}), x,
                   columns);
    }
  }
}

// Rows that break float32 accumulation: the required bound is 5e-7, where torch is off by 1.6e-2.
TEST(LayerNorm, HoldsOnAdversarialRows) {
  Random random(3);
  for (const std::size_t columns : {5u, 64u, 600u, 768u}) {
    std::vector<float> steep = random.list(columns, 9999.8f, 10000.2f);
    std::vector<float> huge = random.list(columns, -1e18f, 1e18f);
    for (const auto& x : {steep, huge}) {
      SCOPED_TRACE(concat(columns, " columns of about ", double{x[0]}));
      const auto expected = naive::layer_norm(x, columns, double{1e-5f});
      const Result actual = layer_norm(x, columns, 1e-5f);
      expect_right(actual, expected, x, columns);
      expect_close("normalized", actual.normalized, expected.normalized, Bound{5e-7});
    }
  }
}

TEST(LayerNorm, HoldsOnTheAdversarialReferences) {
  const Fixture fixture("adversarial");
  const auto cases = fixture.of_op("LayerNorm");
  ASSERT_GE(cases.size(), 15u);
  for (const Case* reference : cases) {
    const Tensor& input = reference->input("input");
    const std::vector<float> x(input.f32(), input.f32() + input.elements());
    const std::size_t columns = input.shape().back(0);
    const float eps = static_cast<float>(reference->option("eps").number());
    const Numbers expected(reference->output("normalized"));
    expect_close(reference->name(), layer_norm(x, columns, eps).normalized, expected.values,
                 Bound{5e-7});
  }
}

TEST(RmsNorm, HoldsOnTheAdversarialReferences) {
  const Fixture fixture("adversarial");
  const auto cases = fixture.of_op("RMSNorm");
  ASSERT_GE(cases.size(), 15u);
  for (const Case* reference : cases) {
    const Tensor &input = reference->input("input"), &weight = reference->input("weight");
    const std::vector<float> x(input.f32(), input.f32() + input.elements());
    const std::size_t columns = input.shape().back(0);
    const float eps = static_cast<float>(reference->option("eps").number());
    std::vector<float> y = rms_norm(x, columns, eps).normalized;
    kernels::scale_shift_rows(y.data(), weight.f32(), nullptr, y.data(), y.size() / columns,
                              columns);
    const Numbers expected(reference->output("output"));
    // Scale, quotient and product round, and so does the reference.
    expect_close(reference->name(), y, expected.values, Bound{0.0, gamma(5)});
  }
}

TEST(LayerNorm, EqualElementsGiveExactlyZero) {
  for (const float value : {0.0f, 1.0f / 3.0f, 1e18f, -7.1f}) {
    for (std::size_t columns = 1; columns <= 33; ++columns) {
      EXPECT_EQ(layer_norm(std::vector<float>(columns, value), columns, 1e-5f).normalized,
                std::vector<float>(columns, 0.0f))
          << value << ", " << columns << " columns";
    }
  }
}

TEST(LayerNorm, ARowHasTheSameBitsAloneAndAmongOthers) {
  const std::size_t columns = 37, rows = 4;
  const auto x = Random(4).list(rows * columns);
  const auto all = layer_norm(x, columns, 1e-5f).normalized;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto slice = [&](const std::vector<float>& from) {
      return std::vector<float>(from.begin() + static_cast<int>(row * columns),
                                from.begin() + static_cast<int>((row + 1) * columns));
    };
    expect_same_bits("row", layer_norm(slice(x), columns, 1e-5f, row).normalized, slice(all));
  }
}

TEST(ScaleShiftRows, EqualsTheFormulaWithAnyOfItsParts) {
  Random random(5);
  for (std::size_t columns = 0; columns <= 33; ++columns) {
    const std::size_t rows = 2;
    const auto x = random.list(rows * columns), weight = random.list(columns);
    const auto bias = random.list(columns);
    for (int parts = 0; parts < 4; ++parts) {
      SCOPED_TRACE(concat(columns, " columns, parts ", parts));
      const bool scaled = parts % 2 != 0, shifted = parts / 2 != 0;
      std::vector<float> expected = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (scaled) expected[i] *= weight[i % columns];
        if (shifted) expected[i] += bias[i % columns];
      }
      Guarded in(x, 1), factor(weight, 2), shift(bias, 3), out(x.size(), 2);
      kernels::scale_shift_rows(in.data(), scaled ? factor.data() : nullptr,
                                shifted ? shift.data() : nullptr, out.data(), rows, columns);
      EXPECT_TRUE(out.intact());
      expect_same_bits("out", out.values(), expected);
      kernels::scale_shift_rows(in.data(), scaled ? factor.data() : nullptr,
                                shifted ? shift.data() : nullptr, in.data(), rows, columns);
      EXPECT_TRUE(in.intact());
      expect_same_bits("in place", in.values(), expected);
    }
  }
}

}  // namespace
}  // namespace clearformer::test
