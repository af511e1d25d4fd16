#include "clearformer/layers/encoder.h"

#include <cmath>

namespace clearformer {

std::string StackConfig::block_scope(std::size_t layer) const {
  return blocks.empty() ? concat(layer) : concat(blocks, ".", layer);
}

std::size_t StackConfig::stored_blocks() const {
  return shared ? shared->groups * shared->per_group : layers;
}

std::size_t StackConfig::block_used(std::size_t layer) const {
  if (!shared) return layer;
  const std::size_t rounds = layers / shared->per_group, round = layer / shared->per_group;
  // In floating point as in transformers: the quotient is rounded if the groups do not divide the layers.
  const double per_group = static_cast<double>(rounds) / static_cast<double>(shared->groups);
  const auto group = static_cast<std::size_t>(static_cast<double>(round) / per_group);
  return group * shared->per_group + layer % shared->per_group;
}

std::string StackConfig::weights_scope(std::size_t block) const {
  if (!shared) return block_scope(block);
  return concat(blocks, ".", block / shared->per_group, ".", block % shared->per_group);
}

BlockConfig StackConfig::block_of(std::size_t layer) const {
  BlockConfig config = block;
  if (!attends(layer)) {
    config.convolution = convolution;
    config.delta = delta;
  }
  if (normalized_input && layer == 0) {
    config.attention_norm = config.norm;
    config.attention_norm->kind = NormKind::none;
  }
  if (!dense.empty() && dense[layer]) {
    config.feed_forward.router = {};
    config.feed_forward.d_hidden = dense_hidden;
  }
  if (scale_by_depth) {
    const double whole = 1.0 / std::sqrt(static_cast<double>(block.attention.d_head));
    config.attention.scale = block.attention.scale.value_or(whole) / static_cast<double>(layer + 1);
  }
  return config;
}

Encoder::Encoder(const WeightScope& scope, const StackConfig& config) : config_(config) {
  for (std::size_t block = 0; block < config.stored_blocks(); ++block) {
    blocks_.emplace_back(scope / config.weights_scope(block), config.block_of(block));
  }
  if (config.final_norm == FinalNorm::present) {
    final_norm_.emplace(scope / "ln_final",
                        config.own_final_norm ? *config.own_final_norm : config.block.norm);
  }
}

void Encoder::forward(const MutableTensorView& x, const StackState& state,
                      const Context& context) const {
  for (std::size_t layer = 0; layer < config_.layers; ++layer) {
    forward_layer(layer, x, state, context);
  }
  finish(x, context);
}

AttentionState Encoder::attention_state(std::size_t layer, const StackState& state) const {
  AttentionState attention = state.attention(config_.mixer(layer), layer);
  if (!config_.rotated.empty() && !config_.rotated[layer]) attention.rotary = nullptr;
  return attention;
}

void Encoder::forward_layer(std::size_t layer, const MutableTensorView& x, const StackState& state,
                            const Context& context) const {
  block(layer).forward(x, attention_state(layer, state), context / config_.block_scope(layer));
}

void Encoder::backward_layer(std::size_t layer, const MutableTensorView& d, const StackState& state,
                             const Context& context) const {
  block(layer).backward(d, attention_state(layer, state), context / config_.block_scope(layer));
}

void Encoder::finish(const MutableTensorView& x, const Context& context) const {
  if (final_norm_) apply_final_norm(*final_norm_, x, context);
}

void Encoder::finish_back(const MutableTensorView& d, const Context& context) const {
  if (final_norm_) final_norm_back(*final_norm_, d, context);
}

void apply_final_norm(const Normalization& norm, const MutableTensorView& x,
                      const Context& context) {
  const Context final_context = context / "ln_final";
  norm.forward(x, x, final_context);
  final_context.trace("hook_out", x, "batch pos d_model");
}

void final_norm_back(const Normalization& norm, const MutableTensorView& d,
                     const Context& context) {
  const Context final_context = context / "ln_final";
  final_context.trace.back("hook_out", d, "batch pos d_model");
  norm.backward(d, d, Write::over, final_context);
}

}  // namespace clearformer
