// Rounding of weights to fp16 and to blocks of integers with a scale. Loading spends its time here: these loops are
// compiled for speed also where the rest is compiled for size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clearformer/tensor/rotation.h"

namespace clearformer {

/// What is added to the integers of q8 and q4 to store them without a sign.
inline constexpr int kZero8 = 128, kZero4 = 8;

/// The largest magnitude of `count` floats; NaN if one of them is.
float largest_magnitude(const float* values, std::size_t count);

/// float to IEEE 754 binary16 bits, rounded to nearest even; magnitudes above 65,519 become infinity.
std::uint16_t f16_from_float(float value);
/// The same of `count` floats.
void round_to_f16(const float* values, std::size_t count, std::uint16_t* to);
/// float to bfloat16 bits, rounded to nearest even.
std::uint16_t bf16_from_float(float value);

/// Rounds a block to integers of ±127, plus kZero8; returns the scale in bfloat16.
std::uint16_t round_block8(const float (&block)[kBlock], std::uint8_t* to);
/// Rounds a block to integers -8 … 7, plus kZero4, two a byte; returns the scale in bfloat16.
std::uint16_t round_block4(const float (&block)[kBlock], std::uint8_t* to);

}  // namespace clearformer
