// exp, ln(1 + x), erf and tanh of a register. The coefficients are minimax fits made for this file (least
// squares, reweighted until the error is equioscillating; the logarithm's at Chebyshev points): exp has an error of
// at most 1.4 units of roundoff, the logarithm 3, erf and tanh 7.
#pragma once

#include <cstdint>

#include "clearformer/simd/vec.h"

namespace clearformer::simd::CLEARFORMER_TARGET {

using IntVec = xsimd::batch<std::int32_t, Arch>;

// Exp, Erf, Tanh … are objects that hold the constants of a function: made before a loop, called in it.

/// c[0] + c[1] x + c[2] x² + …, by Horner's rule.
template <std::size_t Count>
class Polynomial {
 public:
  explicit Polynomial(const float (&c)[Count]) {
    CLEARFORMER_UNROLL
    for (std::size_t i = 0; i < Count; ++i) c_[i] = constant(c[i]);
  }
  Vec operator()(Vec x) const {
    Vec sum = c_[Count - 1];
    CLEARFORMER_UNROLL
    for (std::size_t i = 1; i < Count; ++i) sum = multiply_add(sum, x, c_[Count - 1 - i]);
    return sum;
  }

 private:
  Vec c_[Count];
};

/// e^x for x <= 0 (and up to 88.7), as softmax needs it. Flushed to 0 below -87.3, where e^x is subnormal. NaN
/// propagates.
class ExpOfDifference {
 public:
  Vec operator()(Vec x) const {
    const Vec shifted = multiply_add(x, inverse_log2_, round_);
    const Vec n = shifted - round_;
    Vec r = multiply_add(n, minus_log2_high_, x);
    r = multiply_add(n, minus_log2_low_, r);
    const Vec power = multiply_add(polynomial_(r), r * r, r) + one_;  // e^r
    const IntVec exponent = xsimd::bitwise_cast<std::int32_t>(shifted) << 23;
    const Vec scaled =
        xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::int32_t>(power) + exponent);
    return xsimd::select(x < lowest_, Vec(0.0f), scaled);
  }

 private:
  static constexpr float kInverseLog2 = 1.44269504f;
  static constexpr float kMinusLog2High = -0.693359375f, kMinusLog2Low = 2.12194440e-4f;
  // 1.5 · 2^23: adding it leaves x / ln 2 rounded, below it
  static constexpr float kRound = 12582912.0f;
  static constexpr float kExp[] = {0.49999994f, 0.16666521f, 0.04166839f, 0.00836871f, 0.00138146f};
  static constexpr float kOne = 1.0f, kLowest = -87.3f;

  Vec inverse_log2_ = constant(kInverseLog2), round_ = constant(kRound);
  Vec minus_log2_high_ = constant(kMinusLog2High), minus_log2_low_ = constant(kMinusLog2Low);
  Polynomial<5> polynomial_{kExp};
  Vec one_ = constant(kOne), lowest_ = constant(kLowest);
};

/// e^x: infinity above 88.7, 0 below -87.3.
class Exp {
 public:
  Vec operator()(Vec x) const {
    return xsimd::select(x > highest_, infinity_, exp_of_difference_(x));
  }

 private:
  static constexpr float kHighest = 88.72283f, kInfinity = __builtin_inff();

  ExpOfDifference exp_of_difference_;
  Vec highest_ = constant(kHighest), infinity_ = constant(kInfinity);
};

/// ln(1 + x) for 0 <= x <= 1: 2 artanh(t) with t = x / (2 + x), an odd series.
inline Vec log_of_one_plus(Vec x) {
  static constexpr float kSeries[] = {0.6666664f, 0.4000756f, 0.2823662f, 0.268515f};
  const Vec t = divide(x, x + Vec(2.0f)), square = t * t;
  return multiply_add(t * square, Polynomial(kSeries)(square), t + t);
}

/// x clamped; NaN propagates.
inline Vec clamp(Vec x, Vec low, Vec high) {
#if defined(__wasm__)
  return Vec(wasm_f32x4_pmax(wasm_f32x4_pmin(x, high), low));
#else
  x = xsimd::select(x > high, high, x);
  return xsimd::select(x < low, low, x);
#endif
}
inline Vec clamp(Vec x, float limit) { return clamp(x, Vec(-limit), Vec(limit)); }

/// x · A(x²) / B(x²) of x clamped to ± limit.
template <std::size_t Above, std::size_t Below>
class OddFraction {
 public:
  OddFraction(const float& limit, const float (&above)[Above], const float (&below)[Below])
      : limit_(constant(limit)), above_(above), below_(below) {}
  Vec operator()(Vec x) const {
    x = clamp(x, -limit_, limit_);
    const Vec square = x * x;
    return divide(x * above_(square), below_(square));
  }

 private:
  Vec limit_;
  Polynomial<Above> above_;
  Polynomial<Below> below_;
};

/// erf(x) = 2/√π ∫₀ˣ exp(-t²) dt
class Erf {
 public:
  Vec operator()(Vec x) const { return fraction_(x); }

 private:
  static constexpr float kAbove[] = {1.12837911f,    0.191547960f,    0.0528751351f,
                                     0.00380805996f, 0.000284685259f, 2.02592423e-06f};
  static constexpr float kBelow[] = {1.0f,          0.503087640f,   0.114558652f,
                                     0.0150548872f, 0.00117070065f, 3.78318400e-05f};
  static constexpr float kLimit = 3.95f;

  OddFraction<6, 6> fraction_{kLimit, kAbove, kBelow};
};

class Tanh {
 public:
  Vec operator()(Vec x) const { return fraction_(x); }

 private:
  static constexpr float kAbove[] = {1.0f, 0.133797288f, 0.00349404779f, 2.05836841e-05f,
                                     1.33193217e-08f};
  static constexpr float kBelow[] = {1.0f, 0.467130452f, 0.0258711241f, 0.000328311377f,
                                     7.76212801e-07f};
  static constexpr float kLimit = 9.02f;

  OddFraction<5, 5> fraction_{kLimit, kAbove, kBelow};
};

}  // namespace clearformer::simd::CLEARFORMER_TARGET
