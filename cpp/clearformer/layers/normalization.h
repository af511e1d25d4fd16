// Normalization: LayerNorm and RMSNorm over the last axis.
//   LayerNorm(x) = (x - mean(x)) / sqrt(var(x) + eps) · w + b      (Ba et al. 2016, arXiv 1607.06450)
//   RMSNorm(x)   = x / sqrt(mean(x²) + eps) · w                    (Zhang & Sennrich 2019, arXiv 1910.07467)
// Shapes: x (…, D), w (D), b (D).
// Hook points: hook_scale (…, 1), the divisor; hook_normalized (…, D), before w and b.
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/weights/scope.h"

namespace clearformer {

enum class NormKind { layer, rms };

class Normalization {
 public:
  /// Loads "weight" and, for LayerNorm, "bias" of the scope.
  Normalization(const WeightScope& scope, NormKind kind, std::size_t features, float eps);

  void forward(TensorView x, MutableTensorView out, const Context& context) const;

 private:
  NormKind kind_;
  std::size_t features_;
  float eps_;
  Tensor weight_;
  Tensor bias_;
};

}  // namespace clearformer
