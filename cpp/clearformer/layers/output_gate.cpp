#include "clearformer/layers/output_gate.h"

#include "clearformer/kernels/activation_derivatives.h"
#include "clearformer/kernels/activations.h"
#include "clearformer/layers/heads.h"
#include "clearformer/layers/multi_head_attention.h"
#include "clearformer/layers/position_filters.h"

namespace clearformer {

namespace {

constexpr std::string_view kGateLegend = "batch pos head d_head";

}  // namespace

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
  context.trace("hook_gate", gate, kGateLegend);
  context.trace.keep("gate", gate);
  kernels::sigmoid(gate.f32(), gate.f32(), gate.elements());
  multiply_all(z, gate, z);
}

void OutputGate::backward(const TensorView& x, const MutableTensorView& d,
                          const MutableTensorView& dx, Write write, const Context& context) const {
  const Arena::Frame frame(context.arena);
  const TensorView gate = context.trace.kept("gate"), z = context.trace.kept("given_z");
  const MutableTensorView d_gate = context.arena.take(d.shape());
  const MutableTensorView open = context.arena.take(d.shape());
  multiply_all(d, z, d_gate);
  kernels::sigmoid_derivative(gate.f32(), d_gate.f32(), d_gate.elements());
  kernels::sigmoid(gate.f32(), open.f32(), open.elements());
  multiply_all(d, open, d);
  context.trace.back("hook_gate", d_gate, kGateLegend);
  projection_.backward(x, heads_joined(d_gate), dx, write, context.trace.weights(), context.arena);
}

}  // namespace clearformer
