// Short depthwise convolution along the positions: each channel has a few weights of its own.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// out += Σ_{j<taps} weights[j] ⊙ x[j], summed in this order, for rows of `width` channels: out (width), weights and x
/// (taps, width).
CLEARFORMER_KERNEL(void, short_convolution, const float* x, const float* weights, std::size_t taps,
                   std::size_t width, float* out)

}  // namespace clearformer::kernels
