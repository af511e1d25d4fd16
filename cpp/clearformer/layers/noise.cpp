#include "clearformer/layers/noise.h"

#include <cmath>

namespace clearformer {

namespace {

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

// ln x for 0 < x < 1: x = m · 2^e with m in [√½, √2), ln m = 2 artanh z with z = (m - 1) / (m + 1), |z| < 0.172; the
// first term that is left out is below 1e-18.
double natural_log(double x) {
  constexpr double kLn2 = 0.69314718055994530942;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2.0;
    --exponent;
  }
  const double z = (m - 1.0) / (m + 1.0), square = z * z;
  double series = 0.0;
  for (int k = 21; k > 0; k -= 2) series = series * square + 1.0 / k;
  return 2.0 * z * series + exponent * kLn2;
}

}  // namespace

NoiseKey::NoiseKey(std::uint64_t seed, std::string_view name) : state_(mixed(seed + kStep)) {
  for (const char letter : name) state_ = with(static_cast<unsigned char>(letter)).state_;
}

NoiseKey NoiseKey::with(std::uint64_t coordinate) const {
  return NoiseKey(mixed(state_ + (coordinate + 1) * kStep));
}

// Marsaglia's polar method: a point in the unit disc, drawn until one is inside.
double NoiseKey::normal() const {
  std::uint64_t state = state_;
  const auto uniform = [&] {  // in [-1, 1), a multiple of 2^-52
    state += kStep;
    return static_cast<double>(mixed(state) >> 11) * 0x1p-52 - 1.0;
  };
  for (;;) {
    const double u = uniform(), v = uniform(), square = u * u + v * v;
    if (square > 0.0 && square < 1.0) return u * std::sqrt(-2.0 * natural_log(square) / square);
  }
}

}  // namespace clearformer
