// Matrix products with a weight of fewer bits (see tensor/matrix.h), packed in panels.
//
//   f16  widened to float in the registers, or a panel at a time where several rows read it: the
//        same bits as matmul with the widened weight.
//   q8   y(m, n) = s_m · Σ_b s(n, b) · Σ_(k in b) x̂(m, k) · (u(n, k) - 128), blocks of `block` inputs
//   q4   the same with u(n, k) - 8 and blocks of 32 inputs
//
// the inner sums in integers, where x̂ = round(x / s_m), s_m = max |x(m, :)| / L, are the inputs rounded
// to whole numbers: L = 127 for q4, 2047 for q8: with 127 the rounding of the inputs, not that of the
// weights, would be most of the error, in rows with outliers above all. A row's result does not depend on
// the other rows: sums of integers are exact, blocks are added in order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clearformer/kernels/matmul.h"

namespace clearformer::kernels {

enum class PanelFormat { f16, q8, q4 };

/// Inputs of a panel are a whole number of these (the rest is filled with zeros).
inline constexpr std::size_t kInputBlock = 32;

/// Bytes of one panel of W = panel_width() columns and `k` inputs (K' of them, whole blocks):
///   f16  K · W halves, element (k, j) at k · W + 2 · j for j < W/2, else at k · W + 2 · (j - W/2) + 1
///   q8   for each block, the last of which may be shorter: for each of its inputs W signed bytes, element
///        (k, j) at (k / 4 · W + j) · 4 + k % 4, k from the block's first; then W float scales and W 32-bit
///        sums of the elements over k
///   q4   for each block: 16 · W bytes, of which byte (k / 4 · W/2 + j % (W/2)) · 4 + k % 4 holds
///        element (k, j) in its low half for j < W/2, else in its high half; then W bfloat16 scales
CLEARFORMER_KERNEL(std::size_t, panel_bytes, PanelFormat format, std::size_t k, std::size_t block)

struct QuantizedMatmulArgs : ProductArgs {
  PanelFormat format = PanelFormat::q8;
  std::size_t block = 0;     // q8: inputs that share a scale: a multiple of kInputBlock, <= 4096
  const float* x = nullptr;  // (M, K), rows x_stride floats apart
  std::size_t x_stride = 0;
  const unsigned char* panels = nullptr;
  void* rows = nullptr;       // the inputs as quantize_rows left them; not read for f16
  void* workspace = nullptr;  // panel_workspace_bytes(), 64-byte aligned
};

/// Memory for the rounded inputs of `rows` rows.
CLEARFORMER_KERNEL(std::size_t, quantized_row_bytes, std::size_t rows, std::size_t k)
/// Rounds the rows first … end - 1 of x (M, K) to whole numbers, into args.rows. A row with a NaN or an infinity makes NaN of its results.
CLEARFORMER_KERNEL(void, quantize_rows, const QuantizedMatmulArgs& args, std::size_t first,
                   std::size_t end)
/// Memory for one panel unpacked; one product at a time may use it.
CLEARFORMER_KERNEL(std::size_t, panel_workspace_bytes, PanelFormat format, std::size_t k)

CLEARFORMER_KERNEL(void, quantized_matmul, const QuantizedMatmulArgs& args)

}  // namespace clearformer::kernels
