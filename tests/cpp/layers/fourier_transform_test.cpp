// The factorised transform against the definition, for every length up to 130 and for those in use.
#include "clearformer/layers/fourier_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr double kDoubleRoundoff = 0x1p-53;

// |Σ_j x_j·e^{-2πi·jk/n}|² for k = 0 … n/2, with angles reduced before they are rounded.
std::vector<double> naive_powers(const std::vector<double>& signal) {
  const std::size_t n = signal.size();
  std::vector<double> powers;
  for (std::size_t k = 0; k <= n / 2; ++k) {
    double re = 0.0, im = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const double angle =
          2.0 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      re += signal[j] * std::cos(angle);
      im -= signal[j] * std::sin(angle);
    }
    powers.push_back(re * re + im * im);
  }
  return powers;
}

void expect_powers(std::size_t n, std::uint64_t seed) {
  SCOPED_TRACE(n);
  Random random(seed);
  std::vector<double> signal;
  double sum = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    signal.push_back(2.0 * random.unit() - 1.0);
    sum += std::abs(signal.back());
  }
  FourierTransform transform(n);
  ASSERT_EQ(transform.bins(), n / 2 + 1);
  std::vector<double> found(transform.bins());
  transform.power(signal.data(), found.data());
  // Both sums have at most n terms of three roundings each (the root, the product, the sum), none of which
  // exceeds Σ|x|; squaring doubles the relative error, twice for two sides.
  const double bound = 12.0 * static_cast<double>(n + 4) * kDoubleRoundoff * sum * sum;
  const std::vector<double> expected = naive_powers(signal);
  expect_close("powers", found, expected, Bound{bound});
}

TEST(FourierTransform, EveryLengthIsTheDefinition) {
  for (std::size_t n = 1; n <= 130; ++n) expect_powers(n, n);
  for (const std::size_t n : {200u, 256u, 321u, 400u, 401u, 512u, 1009u}) expect_powers(n, n);
}

TEST(FourierTransform, PowersAddUpToTheSignalsEnergy) {
  Random random(3);
  std::vector<double> signal(400);
  double energy = 0.0;
  for (double& x : signal) {
    x = random.unit();
    energy += x * x;
  }
  FourierTransform transform(400);
  std::vector<double> powers(transform.bins());
  transform.power(signal.data(), powers.data());
  double sum = powers.front() + powers.back();  // these two occur once, the others twice
  for (std::size_t k = 1; k + 1 < powers.size(); ++k) sum += 2.0 * powers[k];
  EXPECT_NEAR(sum, 400.0 * energy, 1e-9);
}

TEST(FourierTransform, UsingItTwiceChangesNothing) {
  FourierTransform transform(30);
  const std::vector<double> ones(30, 1.0), ramp = [] {
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back(i);
    return values;
  }();
  std::vector<double> first(16), second(16), other(16);
  transform.power(ramp.data(), first.data());
  transform.power(ones.data(), other.data());
  transform.power(ramp.data(), second.data());
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

TEST(FourierTransform, NothingHasNoTransform) {
  expect_error(ErrorCode::invalid_argument, {"length must be > 0"}, [] { FourierTransform(0); });
}

}  // namespace
}  // namespace clearformer::test
