// Transposition of a matrix.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// to[j · to_stride + i] = from[i · from_stride + j] for i < rows and j < columns. The two do not overlap.
CLEARFORMER_KERNEL(void, transpose, const float* from, std::size_t from_stride, std::size_t rows,
                   std::size_t columns, float* to, std::size_t to_stride)

}  // namespace clearformer::kernels
