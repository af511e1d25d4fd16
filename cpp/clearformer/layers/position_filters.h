// What the layers without attention share: a causal depthwise convolution of the positions, and zeros at padded ones.
// Shapes: B batch, T positions, D channels, w (D, 1, k).
#pragma once

#include "clearformer/tensor/arena.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The rows of x (B, T, D) at padded positions become `value` (D), or zero if that is empty. padding: uint8 (B, S) whose
/// last T columns are these positions', or null.
void fill_padded(const MutableTensorView& x, const TensorView* padding, const Tensor& value);
/// The weights w of a convolution as rows (k, D) in the arena, the last first if turned.
MutableTensorView filter_rows(const Tensor& weight, bool turned, Arena& arena);
/// out_t = bias + Σ_{j<k} filters_j ⊙ window_{t+j}: window (B, k − 1 + T, D), filters (k, D) -> out (B, T, D); bias (D) may
/// be empty.
void convolve(const TensorView& window, const MutableTensorView& filters, const Tensor& bias,
              const MutableTensorView& out);
/// out = a ⊙ b, of one size.
void multiply_all(const TensorView& a, const TensorView& b, const MutableTensorView& out);

}  // namespace clearformer
