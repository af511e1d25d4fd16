// The last step of a model with an output layer: the logits of its tower's output, and their gradient.
//   logits = W_U·x, for all positions or those in logits_to_keep     x (B, T, D), logits (B, positions, V)
#pragma once

#include <span>

#include "clearformer/models/model.h"

namespace clearformer {

/// Of one pass.
class Predictions {
 public:
  /// The positions that are kept; none: all.
  Predictions(const ModelConfig& config, const OutputLayer& layer,
              std::span<const std::int64_t> kept)
      : config_(config), layer_(layer), kept_(kept) {}

  /// The logits of x (B, T, D); empty if only the gradient of a metric is asked for, which computes those it reads.
  /// Throws invalid_argument for a position that does not exist.
  Tensor forward(const MutableTensorView& x, const Context& context);
  /// Adds the gradient of the metric, which reads these logits, to that of x (B, T, D).
  void backward(const Tensor& logits, const MutableTensorView& d, const Context& context) const;

 private:
  const ModelConfig& config_;
  const OutputLayer& layer_;
  std::span<const std::int64_t> kept_;
  TensorView in_;  // what the layer read (B, positions, D)
};

}  // namespace clearformer
