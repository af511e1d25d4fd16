// Output gate of attention:  z_h ← z_h ⊙ sigmoid(x·W_G^h + b), before the output projection.
// Source: transformers' Qwen3_5Attention. Shapes: B batch, T positions, H heads, d head size, D model.
// Hook points: hook_gate (B, T, H, d), before the sigmoid.
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/linear.h"

namespace clearformer {

struct AttentionConfig;

/// A gate of the heads' results.
class OutputGate {
 public:
  /// Loads "g_proj" of the attention's scope, of the sizes of "q_proj".
  [[gnu::noinline]] static std::shared_ptr<const OutputGate> loaded(const WeightScope& scope,
                                                                    const AttentionConfig& config);
  explicit OutputGate(Linear projection) : projection_(std::move(projection)) {}

  /// x (B, T, D), z (B, T, H, d) in place. Of a differentiated pass the attention keeps the
  /// given z as "given_z".
  [[gnu::noinline]] void apply(const TensorView& x, const MutableTensorView& z,
                               const Context& context) const;
  /// From the gradient of the gated z that of the given one, d (B, T, H, d) in place, and dx (B, T, D).
  void backward(const TensorView& x, const MutableTensorView& d, const MutableTensorView& dx,
                Write write, const Context& context) const;

 private:
  Linear projection_;
};

}  // namespace clearformer
