#include "clearformer/layers/output_layer.h"

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/elementwise.h"

namespace clearformer {

OutputLayer::OutputLayer(const WeightScope& scope, const OutputConfig& config,
                         const Embedding* tied)
    : config_(config),
      projection_(tied == nullptr ? Linear(scope, config.d_model, config.vocabulary, config.bias,
                                           MatrixRole::output)
                                  : Linear(tied->packed(), scope, config.vocabulary, config.bias)) {
}

void OutputLayer::forward(const TensorView& x, const MutableTensorView& logits) const {
  projection_.forward(x, logits);
  const std::size_t count = logits.elements();
  if (config_.scale != 1.0f) kernels::scale(logits.f32(), config_.scale, count);
  if (config_.softcap > 0.0f) kernels::softcap(logits.f32(), config_.softcap, count);
}

void OutputLayer::backward(const TensorView& x, const TensorView& logits,
                           const MutableTensorView& d, const MutableTensorView& dx,
                           const WeightGradients* weights, Arena& arena) const {
  const std::size_t count = d.elements();
  for (std::size_t i = 0; i < count && config_.softcap > 0.0f; ++i) {
    const float share = logits.f32()[i] / config_.softcap;
    d.f32()[i] *= 1.0f - share * share;
  }
  if (config_.scale != 1.0f) kernels::scale(d.f32(), config_.scale, count);
  projection_.backward(x, d, dx, Write::over, weights, arena);
}

}  // namespace clearformer
