// Losses of logits and labels, with their gradients.
//   cross-entropy(x, l) = -(1 - ε)·log p_l - ε/V · Σ_v log p_v,  p = softmax(x);  d/dx = p - (1 - ε)·1_l - ε/V
// averaged over the rows that have a label. Source: torch.nn.functional.cross_entropy; label smoothing ε: Szegedy et al.
// 2015, arXiv 1512.00567, section 7.
// Shapes: N rows, V classes.
#pragma once

#include <cstdint>
#include <span>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The options of cross_entropy().
struct CrossEntropy {
  std::int32_t ignored = -100;  // the label of rows that are not counted
  float label_smoothing = 0.0f;
  float weight = 1.0f;  // of the loss
  /// Of how many rows the mean is taken, if these are only some of them; 0: of those that have a label.
  std::size_t of = 0;
};

/// The number of rows that have a label.
std::size_t counted_rows(std::span<const std::int32_t> labels, const CrossEntropy& options);

/// The weighted mean of the cross-entropy of logits (N, V) and labels (N) of int32; adds its gradient to d (N, V), if its
/// data is not null. NaN if no row is counted, as in torch. Throws invalid_argument for a label outside [0, V), or a
/// label_smoothing outside [0, 1].
double cross_entropy(const TensorView& logits, std::span<const std::int32_t> labels,
                     const MutableTensorView& d, const CrossEntropy& options);

/// The weighted mean of (x - y)² of logits and targets of the same number of elements; adds its gradient to d.
///   torch.nn.functional.mse_loss
double squared_error(const TensorView& x, const float* y, const MutableTensorView& d, float weight);
/// The weighted mean of -y·log σ(x) - (1 - y)·log(1 - σ(x)); adds its gradient to d: σ(x) - y.
///   torch.nn.functional.binary_cross_entropy_with_logits
double binary_cross_entropy(const TensorView& x, const float* y, const MutableTensorView& d,
                            float weight);
/// The weighted mean of -Σ y·log softmax(x) of the rows of x (N, V); adds its gradient to d: softmax(x)·Σy - y.
///   torch.nn.functional.cross_entropy with probabilities
double soft_cross_entropy(const TensorView& x, const float* y, const MutableTensorView& d,
                          float weight);

}  // namespace clearformer
