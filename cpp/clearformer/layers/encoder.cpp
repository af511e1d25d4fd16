#include "clearformer/layers/encoder.h"

#include <cmath>

namespace clearformer {

std::string StackConfig::block_scope(std::size_t layer) const {
  return blocks.empty() ? concat(layer) : concat(blocks, ".", layer);
}

BlockConfig StackConfig::block_of(std::size_t layer) const {
  BlockConfig config = block;
  if (normalized_input && layer == 0) {
    config.attention_norm = config.norm;
    config.attention_norm->kind = NormKind::none;
  }
  if (scale_by_depth) {
    const double whole = 1.0 / std::sqrt(static_cast<double>(block.attention.d_head));
    config.attention.scale = block.attention.scale.value_or(whole) / static_cast<double>(layer + 1);
  }
  return config;
}

Encoder::Encoder(const WeightScope& scope, const StackConfig& config) : config_(config) {
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    blocks_.emplace_back(scope / config.block_scope(layer), config.block_of(layer));
  }
  if (config.final_norm == FinalNorm::present) {
    final_norm_.emplace(scope / "ln_final", config.block.norm);
  }
}

void Encoder::forward(const MutableTensorView& x, const StackState& state,
                      const Context& context) const {
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    forward_layer(layer, x, state, context);
  }
  finish(x, context);
}

void Encoder::forward_layer(std::size_t layer, const MutableTensorView& x, const StackState& state,
                            const Context& context) const {
  AttentionState attention = state.attention(config_.span(layer), layer);
  if (!config_.rotated.empty() && !config_.rotated[layer]) attention.rotary = nullptr;
  blocks_[layer].forward(x, attention, context / config_.block_scope(layer));
}

void Encoder::finish(const MutableTensorView& x, const Context& context) const {
  if (final_norm_) apply_final_norm(*final_norm_, x, context);
}

void apply_final_norm(const Normalization& norm, const MutableTensorView& x,
                      const Context& context) {
  const Context final_context = context / "ln_final";
  norm.forward(x, x, final_context);
  final_context.trace("hook_out", x, "batch pos d_model");
}

}  // namespace clearformer
