// What the layers without attention share: a causal depthwise convolution of the positions, and zeros at padded ones.
// backward of the convolution: dx_t = Σ_{j<k} w_j ⊙ dy_{t+k−1−j}, dw_j = Σ_t dy_t ⊙ x_{t−k+1+j}
// Shapes: B batch, T positions, D channels, w (D, 1, k).
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/linear.h"

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

/// From dy (B, T, D) of a convolution of window (B, k − 1 + T, D): dx (B, T, D), of the window's last T rows, and onto the
/// sums of those that are wanted of its weight (D, 1, k) and bias, which may be empty.
void convolve_back(const TensorView& window, const Tensor& weight, const Tensor& bias,
                   const TensorView& dy, const MutableTensorView& dx, const Context& context);
/// The backward pass of a projection of x whose results were filled at padded positions. d is overwritten.
void project_back(const Linear& layer, const TensorView& x, const TensorView* padding,
                  const MutableTensorView& d, const MutableTensorView& dx, Write write,
                  const Context& context);

}  // namespace clearformer
