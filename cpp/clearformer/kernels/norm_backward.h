// The backward pass of LayerNorm and RMSNorm, row by row. With c the (centered) row, s its scale and n = c / s, dn the
// gradient of n:
//   ds = -Σ dn·n / s;   dc = dn / s + ds · c / (D·s₀);   dx = dc - mean(dc), of RMSNorm dc
// s₀ is the scale as it was computed, s as it was used: they differ where it was edited.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// to[i] += Σ_r a[r, i] · b[r, i], or Σ_r a[r, i] without b, for (rows, columns) with rows `stride` floats apart. The sum
/// over rows, in order, is accumulated in double.
CLEARFORMER_KERNEL(void, add_column_sums, const float* a, const float* b, std::size_t rows,
                   std::size_t stride, std::size_t columns, float* to)

/// out[r] = -Σ dn[r, :] · n[r, :] / scale[r], accumulated in double.
CLEARFORMER_KERNEL(void, norm_scale_gradient, const float* dn, const float* n, const float* scale,
                   float* out, std::size_t rows, std::size_t columns)

/// Arguments of norm_input_gradient.
struct NormInputGradient {
  const float* dn = nullptr;        // (rows, columns)
  const float* n = nullptr;         // (rows, columns)
  const float* dscale = nullptr;    // (rows)
  const float* scale = nullptr;     // (rows), as used
  const float* computed = nullptr;  // (rows), as computed
  float* dx = nullptr;              // (rows, columns); may be dn unless it is added to
  std::size_t rows = 0, columns = 0;
  bool centered = false;  // LayerNorm
  bool onto = false;      // dx is added to
};

/// dx from dn and the gradient of the scale.
CLEARFORMER_KERNEL(void, norm_input_gradient, const NormInputGradient& args)

}  // namespace clearformer::kernels
