// Output layer: logits = x·W_Uᵀ, one per token of the vocabulary; softmax turns them into
// probabilities. Tied: W_U is the embedding table (Press & Wolf 2016, arXiv 1608.05859).
// With options: logits = softcap·tanh(scale·(x·W_Uᵀ + b) / softcap).
// Shapes: x (B, T, D), logits (B, T, V).
#pragma once

#include "clearformer/layers/embedding.h"
#include "clearformer/layers/linear.h"

namespace clearformer {

/// The sizes of an OutputLayer and the transformation of its logits.
struct OutputConfig {
  std::size_t d_model = 0;
  std::size_t vocabulary = 0;
  Bias bias = Bias::none;
  float scale = 1.0f;
  float softcap = 0.0f;  // > 0: limits logits to ± this (Gemma 2)
};

/// Maps hidden states to logits, with a matrix of its own or the embedding's table.
class OutputLayer {
 public:
  /// Loads "weight" and, if the config has one, "bias". Tied to an embedding whose table is
  /// shared_with_output, it uses that table as its weight; null: it has its own.
  OutputLayer(const WeightScope& scope, const OutputConfig& config, const Embedding* tied);

  void forward(const TensorView& x, const MutableTensorView& logits) const;
  /// From d (B, T, V), the gradient of the logits that forward(x, logits) returned, which is overwritten: dx (B, T, D).
  ///   dx = (d ⊙ (1 - (logits / softcap)²) · scale)·W_U
  void backward(const TensorView& x, const TensorView& logits, const MutableTensorView& d,
                const MutableTensorView& dx, const WeightGradients* weights, Arena& arena) const;

  const OutputConfig& config() const { return config_; }
  const Linear& projection() const { return projection_; }

 private:
  OutputConfig config_;
  Linear projection_;
};

}  // namespace clearformer
