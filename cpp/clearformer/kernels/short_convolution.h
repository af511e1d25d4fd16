// Short depthwise convolution along the positions: each channel has a few weights of its own.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// The filters of `width` channels: weights (taps, width), bias (width) or null.
struct ShortFilters {
  const float* weights;
  const float* bias;
  std::size_t taps, width;
};

/// out[r] = bias + Σ_{j<taps} weights[j] ⊙ x[r + j] for rows r of `width` channels, summed in this order; x has
/// rows + taps − 1 of them.
CLEARFORMER_KERNEL(void, short_convolution, const float* x, const ShortFilters& filters,
                   std::size_t rows, float* out)

}  // namespace clearformer::kernels
