#include "clearformer/layers/output_gate.h"

#include "clearformer/kernels/activations.h"
#include "clearformer/layers/multi_head_attention.h"
#include "clearformer/layers/position_filters.h"

namespace clearformer {

std::shared_ptr<const OutputGate> OutputGate::loaded(const WeightScope& scope,
                                                     const AttentionConfig& config) {
  return std::make_shared<const OutputGate>(Linear(scope / "g_proj", config.query_features,
                                                   config.num_heads * config.d_head,
                                                   config.bias.query));
}

void OutputGate::apply(const TensorView& x, const MutableTensorView& z,
                       const Context& context) const {
  const Arena::Frame frame(context.arena);
  const MutableTensorView gate = context.arena.take(z.shape());
  projection_.forward(x, gate);
  context.trace("hook_gate", gate, "batch pos head d_head");
  kernels::sigmoid(gate.f32(), gate.f32(), gate.elements());
  multiply_all(z, gate, z);
}

}  // namespace clearformer
