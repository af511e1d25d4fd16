// Output layer: logits = x·W_Uᵀ, one score per word of the vocabulary; softmax makes them
// probabilities. Tied: W_U is the embedding table (Press & Wolf 2016, arXiv 1608.05859).
// Shapes: x (B, T, D), logits (B, T, V).
#pragma once

#include "clearformer/layers/embedding.h"
#include "clearformer/layers/linear.h"

namespace clearformer {

class OutputLayer {
 public:
  /// An output layer with its own weight, "weight" (V, D) of the scope.
  OutputLayer(const WeightScope& scope, std::size_t d_model, std::size_t vocabulary)
      : projection_(scope, d_model, vocabulary, Bias::none) {}
  /// Tied to an embedding whose table is shared_with_output.
  explicit OutputLayer(const Embedding& embedding) : projection_(embedding.packed()) {}

  void forward(TensorView x, MutableTensorView logits) const { projection_.forward(x, logits); }

 private:
  Linear projection_;
};

}  // namespace clearformer
