// exp, ln(1 + x), erf and tanh of a register. The coefficients are minimax fits made for this file (least
// squares, reweighted until the error is equioscillating; the logarithm's at Chebyshev points): exp has an error of
// at most 1.4 units of roundoff, the logarithm 3, erf and tanh 7.
#pragma once

#include <cstdint>

#include "clearformer/simd/vec.h"

namespace clearformer::simd::CLEARFORMER_TARGET {

using IntVec = xsimd::batch<std::int32_t, Arch>;

/// c[0] + c[1] x + c[2] x² + …, by Horner's rule.
template <std::size_t Count>
inline Vec polynomial(const float (&c)[Count], Vec x) {
  Vec sum(c[Count - 1]);
  for (std::size_t i = Count - 1; i-- > 0;) sum = multiply_add(sum, x, Vec(c[i]));
  return sum;
}

/// e^x for x <= 0 (and up to 88.7), as softmax needs it. Flushed to 0 below -87.3, where e^x is subnormal. NaN
/// propagates.
inline Vec exp_of_difference(Vec x) {
  constexpr float kInverseLog2 = 1.44269504f, kLog2High = 0.693359375f, kLog2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it leaves x / ln 2 rounded, below it
  constexpr float kExp[] = {0.49999994f, 0.16666521f, 0.04166839f, 0.00836871f, 0.00138146f};
  const Vec shifted = multiply_add(x, Vec(kInverseLog2), Vec(kRound));
  const Vec n = shifted - Vec(kRound);
  Vec r = multiply_add(n, Vec(-kLog2High), x);
  r = multiply_add(n, Vec(-kLog2Low), r);
  const Vec power = multiply_add(polynomial(kExp, r), r * r, r) + Vec(1.0f);  // e^r
  const IntVec exponent = xsimd::bitwise_cast<std::int32_t>(shifted) << 23;
  const Vec scaled =
      xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::int32_t>(power) + exponent);
  return xsimd::select(x < Vec(-87.3f), Vec(0.0f), scaled);
}

/// e^x: infinity above 88.7, 0 below -87.3.
inline Vec exp(Vec x) {
  return xsimd::select(x > Vec(88.72283f), Vec(__builtin_inff()), exp_of_difference(x));
}

/// ln(1 + x) for 0 <= x <= 1: 2 artanh(t) with t = x / (2 + x), an odd series.
inline Vec log_of_one_plus(Vec x) {
  constexpr float kSeries[] = {0.6666664f, 0.4000756f, 0.2823662f, 0.268515f};
  const Vec t = divide(x, x + Vec(2.0f)), square = t * t;
  return multiply_add(t * square, polynomial(kSeries, square), t + t);
}

/// x clamped to ± limit; NaN propagates.
inline Vec clamp(Vec x, float limit) {
  x = xsimd::select(x > Vec(limit), Vec(limit), x);
  return xsimd::select(x < Vec(-limit), Vec(-limit), x);
}

/// erf(x) = 2/√π ∫₀ˣ exp(-t²) dt
inline Vec erf(Vec x) {
  constexpr float kAbove[] = {1.12837911f,    0.191547960f,    0.0528751351f,
                              0.00380805996f, 0.000284685259f, 2.02592423e-06f};
  constexpr float kBelow[] = {1.0f,          0.503087640f,   0.114558652f,
                              0.0150548872f, 0.00117070065f, 3.78318400e-05f};
  x = clamp(x, 3.95f);
  const Vec square = x * x;
  return divide(x * polynomial(kAbove, square), polynomial(kBelow, square));
}

inline Vec tanh(Vec x) {
  constexpr float kAbove[] = {1.0f, 0.133797288f, 0.00349404779f, 2.05836841e-05f, 1.33193217e-08f};
  constexpr float kBelow[] = {1.0f, 0.467130452f, 0.0258711241f, 0.000328311377f, 7.76212801e-07f};
  x = clamp(x, 9.02f);
  const Vec square = x * x;
  return divide(x * polynomial(kAbove, square), polynomial(kBelow, square));
}

}  // namespace clearformer::simd::CLEARFORMER_TARGET
