// LayerNorm and RMSNorm in two halves, so that a trace can read between them: the scale of each row, then the rows.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// Arguments of the second half of a norm.
struct RowNorm {
  const float* x = nullptr;       // (rows, columns), already centered for LayerNorm
  const float* scale = nullptr;   // (rows)
  const float* weight = nullptr;  // (columns), or none
  const float* bias = nullptr;    // (columns), or none
  std::size_t rows = 0, columns = 0;
};

/// LayerNorm, first half: centered rows and their scales.
/// centered[r, :] = x[r, :] - mean(x[r, :]); scale[r] = sqrt(mean(centered²) + eps).
/// Mean and variance are accumulated in double, so that rows of mean 1e4 or scale 1e18 stay accurate.
CLEARFORMER_KERNEL(void, center_rows, const float* x, float* centered, float* scale,
                   std::size_t rows, std::size_t columns, float eps)

/// RMSNorm, first half: scale[r] = sqrt(mean(x²) + eps), accumulated in double.
CLEARFORMER_KERNEL(void, root_mean_square, const float* x, float* scale, std::size_t rows,
                   std::size_t columns, float eps)

/// out[r, :] = x[r, :] / scale[r]; may run in place.
CLEARFORMER_KERNEL(void, divide_rows, const float* x, const float* scale, float* out,
                   std::size_t rows, std::size_t columns)

/// divide_rows and scale_shift_rows fused: out[r, :] = x[r, :] / scale[r] * weight + bias, with the same bits; weight
/// and bias may be null; may run in place.
CLEARFORMER_KERNEL(void, divide_scale_shift_rows, const RowNorm& norm, float* out)

/// out[r, :] = x[r, :] * weight + bias; weight and bias may be null; may run in place.
CLEARFORMER_KERNEL(void, scale_shift_rows, const float* x, const float* weight, const float* bias,
                   float* out, std::size_t rows, std::size_t columns)

}  // namespace clearformer::kernels
