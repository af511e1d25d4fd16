// The two normalisations, split where a reader may look: the scale of each row, then the rows.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// Rows on their way through a norm's second half.
struct RowNorm {
  const float* x = nullptr;       // (rows, columns), centered where the norm does that
  const float* scale = nullptr;   // (rows)
  const float* weight = nullptr;  // (columns), or none
  const float* bias = nullptr;    // (columns), or none
  std::size_t rows = 0, columns = 0;
};

/// LayerNorm, first half: normalized-to-be rows and their scales.
/// centered[r, :] = x[r, :] - mean(x[r, :]); scale[r] = sqrt(mean(centered²) + eps).
/// Mean and variance are summed in double: rows of mean 1e4 or scale 1e18 stay right.
CLEARFORMER_KERNEL(void, center_rows, const float* x, float* centered, float* scale,
                   std::size_t rows, std::size_t columns, float eps)

/// RMSNorm, first half: scale[r] = sqrt(mean(x²) + eps), summed in double.
CLEARFORMER_KERNEL(void, root_mean_square, const float* x, float* scale, std::size_t rows,
                   std::size_t columns, float eps)

/// out[r, :] = x[r, :] / scale[r]; x and out may be the same.
CLEARFORMER_KERNEL(void, divide_rows, const float* x, const float* scale, float* out,
                   std::size_t rows, std::size_t columns)

/// The two steps after another in one pass: out[r, :] = x[r, :] / scale[r] * weight + bias, with the
/// same bits; a null weight or bias is left out; x and out may be the same.
CLEARFORMER_KERNEL(void, divide_scale_shift_rows, const RowNorm& norm, float* out)

/// out[r, :] = x[r, :] * weight + bias; a null weight or bias is left out; x and out may be the same.
CLEARFORMER_KERNEL(void, scale_shift_rows, const float* x, const float* weight, const float* bias,
                   float* out, std::size_t rows, std::size_t columns)

}  // namespace clearformer::kernels
