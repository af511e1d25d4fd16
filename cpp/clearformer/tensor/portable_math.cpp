#include "clearformer/tensor/portable_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace clearformer {

namespace {

// ln 2 split into two parts; the first has 21 trailing zero bits, so that its product with k is exact (Cody-Waite
// reduction).
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 0x1.71547652b82fep+0;
// pi / 2 split into three parts; the first two have 22 bits, so that their products with k are exact for k < 2^31.
constexpr double kHalfPiHigh = 0x1.921fb00000000p+0;
constexpr double kHalfPiMiddle = 0x1.5110b00000000p-22;
constexpr double kHalfPiLow = 0x1.18469898cc517p-44;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr int kExponentBias = 1023, kMantissaBits = 52;

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kExponentBias)
                               << kMantissaBits);
}

}  // namespace

double portable_exp(double x) {
  if (!(x >= -700.0)) return 0.0;
  if (x > 709.0) return std::numeric_limits<double>::infinity();
  const double k = std::floor(x * kLog2E + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln 2 / 2
  // Taylor series to r^13 / 13!; the truncation error is below 5e-18.
  double sum = 1.0;
  for (int n = 13; n >= 1; --n) sum = 1.0 + sum * (r / n);
  return sum * power_of_two(static_cast<int>(k));
}

double portable_log(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> kMantissaBits) - kExponentBias;
  double mantissa = x / power_of_two(exponent);  // [1, 2)
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // log m = 2 (s + s^3 / 3 + s^5 / 5 + …), |s| < 0.172; the truncation error is below 1e-18.
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  double sum = 0.0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * (s * s) + 1.0 / n;
  return exponent * kLn2High + (exponent * kLn2Low + 2.0 * s * sum);
}

double portable_pow(double base, double exponent) {
  return portable_exp(exponent * portable_log(base));
}

SineCosine portable_sine_cosine(double x) {
  if (std::fabs(x) > 0x1p31) x = std::fmod(x, 2.0 * std::numbers::pi);
  const double k = std::floor(x * kTwoOverPi + 0.5);
  // |r| <= pi / 4
  const double r = ((x - k * kHalfPiHigh) - k * kHalfPiMiddle) - k * kHalfPiLow;
  // Taylor series to r^17 / 17! and r^16 / 16!; the truncation errors are below 1e-19 and 3e-18.
  double sine = 1.0, cosine = 1.0;
  for (int n = 16; n >= 2; n -= 2) {
    sine = 1.0 - sine * (r * r / (n * (n + 1)));
    cosine = 1.0 - cosine * (r * r / (n * (n - 1)));
  }
  sine *= r;
  const double quarter = k - 4.0 * std::floor(k / 4.0);  // quadrant
  if (quarter == 1.0) return {cosine, -sine};
  if (quarter == 2.0) return {-sine, -cosine};
  if (quarter == 3.0) return {-cosine, sine};
  return {sine, cosine};
}

}  // namespace clearformer
