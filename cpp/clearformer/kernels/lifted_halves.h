// Halves of a weight, times a power of two that moves them to the upper end of their range, which is exact. There are then
// hardly any subnormal ones, each of which costs some processors 100 cycles when it is multiplied.
#pragma once

#include <algorithm>
#include <cmath>
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
  std::uint16_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, static_cast<std::uint16_t>(halves[i] & 0x7fff));
  }
  return largest;
}

/// half · 2^lift, where that is a half.
inline std::uint16_t lifted(std::uint16_t half, int lift) {
  const int exponent = half >> 10 & 31;
  if (exponent != 0 && exponent + lift > 0) {
    return static_cast<std::uint16_t>(half + lift * (1 << 10));
  }
  return f16_from_float(std::ldexp(float_from_f16(half), lift));
}

}  // namespace clearformer::kernels
