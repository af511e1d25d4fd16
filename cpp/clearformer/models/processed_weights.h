// Weights as TransformerLens processes them before analysis. The model's own are not changed.
//   fold_ln: the norm's w and b become part of the weights that read its output:  W ← w ⊙ W,  b_W ← b_W + b·W,
//     and with LayerNorm, which subtracts the mean, each of their columns has the mean 0; what reads no norm (the first
//     attention of ModernBERT) is left as it is
//   center_writing_weights: what is written to the residual stream has the mean 0, which LayerNorm would subtract
// Source: TransformerLens, HookedTransformer.process_weights_.
#pragma once

#include <string_view>

#include "clearformer/models/config.h"
#include "clearformer/models/parameters.h"

namespace clearformer {

/// How weights are processed; the first two without effect on a model's logits where they are allowed.
struct WeightProcessing {
  bool fold_ln = false;
  bool center_writing_weights = false;
  bool with_adapters = false;  // W + Σ s·B·A of the adapters in force, before the others
};

/// A weight under TransformerLens' name (lens_weights.h). Throws unsupported where processing it would change the
/// model: for norms after the sum, RMSNorm (which does not subtract a mean) with center_writing_weights, what is written
/// there but read without a norm (embeddings of GPT-1 or before a projection), and weights that read a memory or follow a
/// head's own layers.
Tensor processed_weight(const ModelConfig& config, const Parameters& parameters,
                        std::string_view name, const WeightProcessing& processing);

}  // namespace clearformer
