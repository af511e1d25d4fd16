// Sums, products and scalings of whole arrays; out may be one of the inputs.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// out = a + b
CLEARFORMER_KERNEL(void, add, const float* a, const float* b, float* out, std::size_t count)
/// out = a · b
CLEARFORMER_KERNEL(void, multiply, const float* a, const float* b, float* out, std::size_t count)
/// x = x · factor
CLEARFORMER_KERNEL(void, scale, float* x, float factor, std::size_t count)

}  // namespace clearformer::kernels
