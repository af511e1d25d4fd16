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

}  // namespace clearformer
