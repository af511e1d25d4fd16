// Halves of a weight, times a power of two that moves them to the upper end of their range, which is exact. There are then
// hardly any subnormal ones, each of which costs some processors 100 cycles when it is multiplied.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "clearformer/tensor/rounding.h"

namespace clearformer::kernels {

/// The exponent of the largest such power for halves up to `largest`, without its sign; 0 for zero and infinity.
inline int lift_of(std::uint16_t largest) {
  constexpr std::uint16_t kInfinity = 0x7c00;
  constexpr int kLargestExponent = 30;
  if (largest == 0 || largest >= kInfinity) return 0;
  return kLargestExponent - std::max(1, largest >> 10);
}

/// The largest magnitude.
inline std::uint16_t largest_of(const std::uint16_t* halves, std::size_t count) {
  unsigned largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned magnitude = halves[i] & 0x7fffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  return static_cast<std::uint16_t>(largest);
}

inline float power_of_two(int exponent) { return std::bit_cast<float>((127 + exponent) << 23); }

/// half · 2^lift, where that is a half.
[[gnu::noinline]] inline std::uint16_t lifted_slowly(std::uint16_t half, int lift) {
  return f16_from_float(float_from_f16(half) * power_of_two(lift));
}

/// The same for lift >= 0.
[[gnu::always_inline]] inline std::uint16_t lifted(std::uint16_t half, int lift) {
  if ((half & 0x7c00) != 0) return static_cast<std::uint16_t>(half + lift * (1 << 10));
  return lifted_slowly(half, lift);
}

}  // namespace clearformer::kernels
