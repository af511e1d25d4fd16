// Matrix products with a quantised or half-precision weight (see tensor/matrix.h), packed in panels.
//
//   f16  widened to float in registers, or a panel at a time where several rows read it: the same bits as matmul
//        with the widened weight.
//   q8   y(m, n) = s_m · Σ_b s(n, b) · Σ_(k in b) x̂(m, k) · (u(n, k) - 128), blocks of `block` inputs
//   q4   the same with u(n, k) - 8 and blocks of 32 inputs
//
// The inner sums are integers. x̂ = round(x / s_m), s_m = max |x(m, :)| / L, are the inputs rounded to integers:
// L = 127 for q4, 2047 for q8, where 127 would make the rounding of the inputs, not of the weights, the larger
// error, above all in rows with outliers. A row's result does not depend on the other rows: integer sums are exact
// and blocks are added in order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clearformer/kernels/matmul.h"

namespace clearformer::kernels {

enum class PanelFormat { f16, q8, q4 };

/// The inputs of a panel are padded with zeros to a multiple of this.
inline constexpr std::size_t kInputBlock = 32;

/// Bytes of one panel of W = panel_width() columns and `k` inputs, padded to K':
///   f16  K · W halves, element (k, j) at k · W + 2 · j for j < W/2, else at k · W + 2 · (j - W/2) + 1
///   q8   for each block, the last of which may be shorter: W signed bytes per input, element (k, j) at
///        (k / 4 · W + j) · 4 + k % 4, k counted from the start of the block; then W float scales and W 32-bit sums
///        of the elements over k
///   q4   for each block: 16 · W bytes, where byte (k / 4 · W/2 + j % (W/2)) · 4 + k % 4 holds element (k, j) in its
///        low nibble for j < W/2, else in its high nibble; then W bfloat16 scales
CLEARFORMER_KERNEL(std::size_t, panel_bytes, PanelFormat format, std::size_t k, std::size_t block)

struct QuantizedMatmulArgs : ProductArgs {
  PanelFormat format = PanelFormat::q8;
  std::size_t block = 0;     // q8: inputs that share a scale: a multiple of kInputBlock, <= 4096
  const float* x = nullptr;  // (M, K), rows x_stride floats apart
  std::size_t x_stride = 0;
  const unsigned char* panels = nullptr;
  void* rows = nullptr;       // the inputs from quantize_rows; not read for f16
  void* workspace = nullptr;  // panel_workspace_bytes(), 64-byte aligned
};

/// Bytes of the rounded inputs of `rows` rows.
CLEARFORMER_KERNEL(std::size_t, quantized_row_bytes, std::size_t rows, std::size_t k)
/// Rounds rows first … end - 1 of x (M, K) to integers, into args.rows. A row with NaN or infinity gives NaN.
CLEARFORMER_KERNEL(void, quantize_rows, const QuantizedMatmulArgs& args, std::size_t first,
                   std::size_t end)
/// Bytes of one unpacked panel; products that run at the same time need one each.
CLEARFORMER_KERNEL(std::size_t, panel_workspace_bytes, PanelFormat format, std::size_t k)

CLEARFORMER_KERNEL(void, quantized_matmul, const QuantizedMatmulArgs& args)

}  // namespace clearformer::kernels
