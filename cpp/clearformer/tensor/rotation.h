// The rotation of quantised products: inputs and weights are multiplied, in blocks of 64, by the same orthogonal
// matrix before they are rounded. Products do not change, and outliers are distributed over their block.
// Source: QuaRot (Ashkboos et al., arXiv:2404.00456). The matrix is Hadamard's: log2(64) additions a number.
#pragma once

#include <cstddef>

namespace clearformer {

/// Numbers that are rotated together and, rounded, share a scale; the last ones of a row are padded with zeros.
inline constexpr std::size_t kBlock = 64;
/// What makes the matrix orthogonal: 1/√64.
inline constexpr float kRotationScale = 0.125f;

/// Blocks of a row of `inputs` numbers.
constexpr std::size_t blocks_of(std::size_t inputs) {
  return inputs / kBlock + (inputs % kBlock != 0 ? 1 : 0);
}

/// The Walsh-Hadamard transform of N numbers (floats or registers of them), a power of two, in place and without a
/// scale.
template <std::size_t N, class Number>
[[gnu::always_inline]] inline void hadamard(Number (&x)[N]) {
#pragma GCC unroll 8
  for (std::size_t stride = 1; stride < N; stride *= 2) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < N; ++i) {
      if ((i & stride) != 0) continue;
      const Number first = x[i], second = x[i + stride];
      x[i] = first + second;
      x[i + stride] = first - second;
    }
  }
}

/// Rotates a block of weights; rotated twice, it is what it was, up to rounding.
void rotate(float (&block)[kBlock]);

}  // namespace clearformer
