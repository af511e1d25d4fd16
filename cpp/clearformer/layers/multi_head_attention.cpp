#include "clearformer/layers/multi_head_attention.h"

#include <cmath>

namespace clearformer {

namespace {
constexpr std::string_view kQueryLegend = "batch pos head d_head";
constexpr std::string_view kKeyLegend = "batch pos key_value_head d_head";
}  // namespace

MultiHeadAttention::MultiHeadAttention(const WeightScope& scope, const AttentionConfig& config)
    : config_(config),
      query_(scope / "q_proj", config.d_model, config.num_heads * config.d_head, config.bias),
      key_(scope / "k_proj", config.d_model, config.num_key_value_heads * config.d_head,
           config.bias),
      value_(scope / "v_proj", config.d_model, config.num_key_value_heads * config.d_head,
             config.bias),
      output_(scope / "o_proj", config.num_heads * config.d_head, config.d_model, config.bias) {}

// The cache's store, or one in the arena for this call alone.
PackedKeyValues& MultiHeadAttention::store(const AttentionState& state,
                                           const PackedKeyValues::Sizes& sizes, std::size_t length,
                                           PackedKeyValues& own, Arena& arena) const {
  if (state.cache != nullptr) return state.cache->reserve(state.layer, sizes, length);
  const std::size_t capacity = PackedKeyValues::rounded(length);
  own = PackedKeyValues(sizes, capacity,
                        arena.take({PackedKeyValues::key_floats(sizes, capacity)}).f32(),
                        arena.take({PackedKeyValues::value_floats(sizes, capacity)}).f32());
  return own;
}

void MultiHeadAttention::forward(TensorView x, const AttentionState& state,
                                 MutableTensorView output, const Context& context) const {
  Arena::Frame frame(context.arena);
  const std::size_t batch = x.dim(0), length = x.dim(1), d_head = config_.d_head;
  const Shape query_shape{batch, length, config_.num_heads, d_head};
  const Shape key_shape{batch, length, config_.num_key_value_heads, d_head};
  const MutableTensorView queries = context.arena.take(query_shape);
  const MutableTensorView keys = context.arena.take(key_shape);
  const MutableTensorView values = context.arena.take(key_shape);
  query_.forward(x, queries);
  key_.forward(x, keys);
  value_.forward(x, values);
  context.trace("hook_q", queries, kQueryLegend);
  context.trace("hook_k", keys, kKeyLegend);
  context.trace("hook_v", values, kKeyLegend);
  if (state.rotary != nullptr) {
    RotaryEmbedding::rotate(queries, *state.rotary);
    RotaryEmbedding::rotate(keys, *state.rotary);
    context.trace("hook_rot_q", queries, kQueryLegend);
    context.trace("hook_rot_k", keys, kKeyLegend);
  }
  PackedKeyValues own;
  PackedKeyValues& packed =
      store(state, {batch, config_.num_key_value_heads, d_head, d_head}, length, own,
            context.arena);
  packed.append(keys, values);
  const MutableTensorView mixed = context.arena.take(query_shape);
  const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(d_head)));
  attention(queries, packed, state.mask, scale, mixed, context);
  context.trace("hook_z", mixed, kQueryLegend);
  output_.forward(mixed.reshaped({batch, length, config_.num_heads * d_head}), output);
}

}  // namespace clearformer
