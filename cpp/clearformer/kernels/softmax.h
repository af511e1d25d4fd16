// Softmax over the last axis, in place.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// x[r, :] = exp(x[r, :] - max) / sum for `rows` rows of `columns` floats, `stride` floats apart.
/// A row of -inf throughout, with nothing to attend to, becomes zeros. The maximum is subtracted first, so any finite
/// scores (±1e30) are safe.
CLEARFORMER_KERNEL(void, softmax, float* x, std::size_t rows, std::size_t columns,
                   std::size_t stride)

}  // namespace clearformer::kernels
