#include "clearformer/layers/decoder.h"

namespace clearformer {

Decoder::Decoder(const WeightScope& scope, const StackConfig& config) : config_(config) {
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    blocks_.emplace_back(scope / config.block_scope(layer), config.block_of(layer));
  }
  if (config.final_norm == FinalNorm::present) {
    final_norm_.emplace(scope / "ln_final",
                        config.own_final_norm ? *config.own_final_norm : config.block.norm);
  }
}

void Decoder::forward(const MutableTensorView& x, const TensorView& memory, const StackState& state,
                      const Context& context) const {
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    forward_layer(layer, x, memory, state, context);
  }
  finish(x, context);
}

void Decoder::forward_layer(std::size_t layer, const MutableTensorView& x, const TensorView& memory,
                            const StackState& state, const Context& context) const {
  const AttentionState cross{state.cross_mask, nullptr, state.cache, layer, KeyRole::memory};
  const AttentionState attention = state.attention(config_.mixer(layer), layer);
  blocks_[layer].forward(x, memory, attention, cross, context / config_.block_scope(layer));
}

void Decoder::finish(const MutableTensorView& x, const Context& context) const {
  if (final_norm_) apply_final_norm(*final_norm_, x, context);
}

void Decoder::finish_back(const MutableTensorView& d, const Context& context) const {
  if (final_norm_) final_norm_back(*final_norm_, d, context);
}

void Decoder::backward_layer(std::size_t layer, const MutableTensorView& d,
                             const TensorView& memory, const MutableTensorView& d_memory,
                             const StackState& state, const Context& context) const {
  const AttentionState cross{state.cross_mask, nullptr, nullptr, layer, KeyRole::memory};
  const AttentionState attention = state.attention(config_.mixer(layer), layer);
  blocks_[layer].backward(d, memory, d_memory, attention, cross,
                          context / config_.block_scope(layer));
}

}  // namespace clearformer
