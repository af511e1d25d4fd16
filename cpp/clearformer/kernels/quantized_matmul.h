// Matrix products with a quantised or half-precision weight (see tensor/matrix.h), packed in panels.
//
//   f16  widened to float in registers, or a panel at a time where several rows read it: the same bits as matmul
//        with the widened weight.
//   q8, q4   y(m, n) = Σ_b s(m, b) · s(n, b) · Σ_(k in b) x̂(m, k) · u(n, k), blocks b of 64 inputs
//
// These are products of rotated rows (tensor/rotation.h). The inner sums are integers: x̂ = round(x / s(m, b)),
// s(m, b) = max |x(m, b)| / L, are the rotated inputs rounded to integers. L = 63 for q8: with an offset of 64 they are
// unsigned and below 128, as instructions for products of bytes need one factor to be. q8_fine rounds to L = 4095, which
// those instructions take in two halves: twice the work, for the few matrices that need it. In q4 the weights are
// unsigned, with an offset of 8: L = 127.
//
// A row's result does not depend on the other rows, nor on the target: integer sums are exact, and blocks are added in
// order without fused multiply-add.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clearformer/kernels/matmul.h"

namespace clearformer::kernels {

enum class PanelFormat { f16, q8, q8_fine, q4 };

/// Bytes of one panel of W = panel_width() columns and `k` inputs, padded with zeros to K', a multiple of 64. P =
/// panel_step() inputs of a column are adjacent:
///   f16  K · W halves, element (k, j) at k · W + 2 · j for j < W/2, else at k · W + 2 · (j - W/2) + 1
///   q8   for each block: W signed bytes per input, element (k, j) at (k / P · W + j) · P + k % P, k counted from the
///        start of the block; then W bfloat16 scales and W 16-bit sums of the elements over k
///   q4   for each block: 32 · W bytes, where byte (k / P · W/2 + j % (W/2)) · P + k % P holds element (k, j) plus 8 in
///        its low nibble for j < W/2, else in its high nibble; then W bfloat16 scales
CLEARFORMER_KERNEL(std::size_t, panel_bytes, PanelFormat format, std::size_t k)

/// The width of the integers that products of q8 and q4 of several rows sum to 32 bits: 8, or 16 where products of bytes
/// are summed in pairs first, or are of 16-bit integers. The results are the same.
CLEARFORMER_KERNEL(std::size_t, dot_bits, )

/// Adjacent inputs of a column in panels of q8 and q4.
CLEARFORMER_KERNEL(std::size_t, panel_step, )

struct QuantizedMatmulArgs : ProductArgs {
  PanelFormat format = PanelFormat::q8;
  const float* x = nullptr;  // (M, K), rows x_stride floats apart
  std::size_t x_stride = 0;
  std::size_t turns = kUsualTurns;  // of a single row; at most kMostTurns
  float unlift = 1.0f;  // f16: the numbers are those in the panels times this power of two
  const unsigned char* panels = nullptr;
  void* rows = nullptr;       // the inputs from quantize_rows; not read for f16
  void* workspace = nullptr;  // panel_workspace_bytes(), 64-byte aligned
};

/// Bytes of the rounded inputs of `rows` rows.
CLEARFORMER_KERNEL(std::size_t, quantized_row_bytes, PanelFormat format, std::size_t rows,
                   std::size_t k)
/// Rotates rows first … end - 1 of x (M, K) and rounds them to integers, into args.rows. A row with NaN, infinity or
/// numbers whose sums of 64 overflow gives NaN.
CLEARFORMER_KERNEL(void, quantize_rows, const QuantizedMatmulArgs& args, std::size_t first,
                   std::size_t end)
/// Bytes of one unpacked panel; products that run at the same time need one each.
CLEARFORMER_KERNEL(std::size_t, panel_workspace_bytes, PanelFormat format, std::size_t k)

CLEARFORMER_KERNEL(void, quantized_matmul, const QuantizedMatmulArgs& args)

}  // namespace clearformer::kernels
