#include "clearformer/layers/multi_head_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace clearformer {

namespace {

constexpr std::string_view kQueryLegend = "batch pos head d_head";
constexpr std::string_view kKeyLegend = "batch key_pos key_value_head d_head";

AttentionConfig with_defaults(AttentionConfig config) {
  if (config.num_key_value_heads == 0) config.num_key_value_heads = config.num_heads;
  for (std::size_t* features :
       {&config.query_features, &config.key_features, &config.value_features}) {
    if (*features == 0) *features = config.d_model;
  }
  return config;
}

}  // namespace

double AttentionConfig::usual_scale() const { return 1.0 / std::sqrt(static_cast<double>(d_head)); }

MultiHeadAttention::MultiHeadAttention(const WeightScope& scope, const AttentionConfig& config)
    : config_(with_defaults(config)) {
  const std::size_t width = config_.num_heads * config_.d_head;
  const std::size_t key_width = config_.num_key_value_heads * config_.d_head;
  query_ = Linear(scope / "q_proj", config_.query_features, width, config_.bias.query);
  key_ = Linear(scope / "k_proj", config_.key_features, key_width, config_.bias.key);
  value_ = Linear(scope / "v_proj", config_.value_features, key_width, config_.bias.value);
  output_ = Linear(scope / "o_proj", width, config_.d_model, config_.bias.output);
  if (config_.gated) gate_ = OutputGate::loaded(scope, config_);
  if (config_.head_norm) {
    const auto norm_over = [&](std::size_t heads) {
      NormConfig norm = *config_.head_norm;
      if (config_.norm_joins_heads) norm.shape = {heads * config_.d_head};
      if (config_.norm_per_head) norm.heads = heads;
      return norm;
    };
    query_norm_.emplace(scope / "q_norm", norm_over(config_.num_heads));
    key_norm_.emplace(scope / "k_norm", norm_over(config_.num_key_value_heads));
  }
  if (config_.learned_extra_key) {
    extra_key_ = scope.take("bias_k", {1, 1, key_width});
    extra_value_ = scope.take("bias_v", {1, 1, key_width});
  }
  if (config_.additive_hidden != 0) {
    additive_.emplace(scope / "additive", config_.d_head, config_.d_head, config_.additive_hidden);
  }
  if (config_.disentangled) {
    disentangled_.emplace(scope, *config_.disentangled, config_.d_model, width);
  }
}

std::size_t MultiHeadAttention::extra_keys() const {
  return (config_.learned_extra_key ? 1u : 0u) + (config_.zero_extra_key ? 1u : 0u);
}

void MultiHeadAttention::check(const char* what, const TensorView& x, std::size_t batch,
                               std::size_t features) const {
  const Shape& shape = x.shape();
  if (shape.rank() == 3 && shape[2] == features && shape[0] == batch) return;
  fail(ErrorCode::shape_mismatch, "multi-head attention: ", what, " of shape ", shape.text(),
       ", expected [", batch, ", length, ", features, "]");
}

void MultiHeadAttention::check(const Inputs& inputs) const {
  const std::size_t batch = inputs.queries.shape().rank() == 3 ? inputs.queries.dim(0) : 0;
  check("keys", inputs.keys, batch, config_.key_features);
  check("values", inputs.values, batch, config_.value_features);
  if (inputs.keys.dim(1) != inputs.values.dim(1)) {
    fail(ErrorCode::shape_mismatch, "multi-head attention: ", inputs.keys.dim(1), " keys and ",
         inputs.values.dim(1), " values");
  }
}

// x (B, S, G, d) with the extra keys (or values) appended to each sequence.
MutableTensorView MultiHeadAttention::with_extra(const MutableTensorView& x, const Tensor& learned,
                                                 Arena& arena) const {
  const std::size_t row = x.dim(2) * x.dim(3), length = x.dim(1), longer = length + extra_keys();
  const MutableTensorView out = arena.take({x.dim(0), longer, x.dim(2), x.dim(3)});
  std::memset(out.data(), 0, out.bytes());
  for (std::size_t batch = 0; batch < x.dim(0); ++batch) {
    float* to = out.f32() + batch * longer * row;
    std::memcpy(to, x.f32() + batch * length * row, length * row * sizeof(float));
    if (!learned.empty()) std::memcpy(to + length * row, learned.data(), row * sizeof(float));
  }
  return out;
}

void MultiHeadAttention::clip(const MutableTensorView& x) const {
  if (config_.clip <= 0.0f) return;
  float* const first = x.f32();
  for (std::size_t i = 0; i < x.elements(); ++i) {
    first[i] = std::clamp(first[i], -config_.clip, config_.clip);
  }
}

// x (B, T, H, d) in place, one norm a head or one for all of them.
void MultiHeadAttention::normalize(const Normalization& norm, const MutableTensorView& x,
                                   const Context& context) const {
  const MutableTensorView rows = config_.norm_joins_heads ? heads_joined(x) : x;
  norm.forward(rows, rows, context);
}

// Normalizes and rotates projected queries or keys (B, T, H, d) in place.
void MultiHeadAttention::place(const Side& side, const std::optional<Normalization>& norm,
                               const RotaryTable* rotary, const MutableTensorView& x,
                               const Context& context) const {
  if (norm && !config_.norm_after_rotation) normalize(*norm, x, context / side.norm);
  if (rotary != nullptr) RotaryEmbedding::rotate(x, *rotary);
  if (norm && config_.norm_after_rotation) normalize(*norm, x, context / side.norm);
  if (rotary != nullptr) context.trace(side.rotated, x, side.legend);
}

MutableTensorView MultiHeadAttention::project_queries(const Inputs& inputs,
                                                      const AttentionState& state,
                                                      const Context& context) const {
  const TensorView &x = inputs.queries, &own = inputs.own.queries;
  const MutableTensorView queries =
      context.arena.take({x.dim(0), x.dim(1), config_.num_heads, config_.d_head});
  query_.forward(x, queries);
  if (own.data() != nullptr) project_heads(query_, own, queries, context.arena);
  clip(queries);
  if (config_.clip > 0.0f) context.trace.keep("clipped_q", queries);
  context.trace("hook_q", queries, kQueryLegend);
  place({"q_norm", "hook_rot_q", kQueryLegend}, query_norm_, state.rotary, queries, context);
  context.trace.keep("queries", queries);
  if (!additive_) return queries;
  const MutableTensorView hidden =
      context.arena.take({x.dim(0), x.dim(1), config_.num_heads, additive_->hidden()});
  additive_->project_queries(queries, hidden);
  return hidden;
}

MultiHeadAttention::Projected MultiHeadAttention::project(const Inputs& inputs,
                                                          const AttentionState& state,
                                                          const Context& outer) const {
  check(inputs);
  // Positions of the memory are counted from its own beginning.
  const bool of_memory = state.role == KeyRole::memory;
  const Context context{outer.arena, of_memory ? outer.trace.after(0) : outer.trace};
  const Shape shape{inputs.keys.dim(0), inputs.keys.dim(1), config_.num_key_value_heads,
                    config_.d_head};
  Projected projected{context.arena.take(shape), context.arena.take(shape)};
  key_.forward(inputs.keys, projected.keys);
  value_.forward(inputs.values, projected.values);
  const HeadInputs& own = inputs.own;
  if (own.keys.data() != nullptr) project_heads(key_, own.keys, projected.keys, context.arena);
  if (own.values.data() != nullptr) {
    project_heads(value_, own.values, projected.values, context.arena);
  }
  clip(projected.keys);
  clip(projected.values);
  if (config_.clip > 0.0f) {
    context.trace.keep("clipped_k", projected.keys);
    context.trace.keep("clipped_v", projected.values);
  }
  context.trace("hook_k", projected.keys, kKeyLegend);
  context.trace("hook_v", projected.values, kKeyLegend);
  place({"k_norm", "hook_rot_k", kKeyLegend}, key_norm_, state.rotary, projected.keys, context);
  if (extra_keys() != 0) {  // of torch's module alone
    projected.keys = with_extra(projected.keys, extra_key_, context.arena);
    projected.values = with_extra(projected.values, extra_value_, context.arena);
  }
  context.trace.keep("keys", projected.keys);
  context.trace.keep("values", projected.values);
  if (additive_) {
    const MutableTensorView& keys = projected.keys;
    const MutableTensorView hidden =
        context.arena.take({keys.dim(0), keys.dim(1), keys.dim(2), additive_->hidden()});
    additive_->project_keys(keys, hidden);
    projected.keys = hidden;
  }
  return projected;
}

// Appends the new keys and values to the cache's store, or packs those of this call.
const PackedKeyValues& MultiHeadAttention::packed(const Projected& projected,
                                                  const AttentionState& state, PackedKeyValues& own,
                                                  Arena& arena) const {
  const Heads keys = positions_first(projected.keys), values = positions_first(projected.values);
  if (state.cache == nullptr) return own = packed_in(arena, keys, values);
  const PackedKeyValues::Sizes sizes{keys.batch, keys.heads, keys.width, values.width};
  PackedKeyValues& store = state.role == KeyRole::memory
                               ? state.cache->reserve_memory(state.layer, sizes, keys.length)
                               : state.cache->reserve(state.layer, sizes, keys.length);
  store.append(keys, values);
  return store;
}

AttentionOptions MultiHeadAttention::options() const {
  AttentionOptions options;
  options.empty_row = config_.empty_row;
  options.unmasked_keys = extra_keys();
  options.softcap = config_.softcap;
  if (additive_) {
    options.score = {kernels::additive_scores, additive_->weights()};
  } else {
    options.score.scale = static_cast<float>(config_.scale.value_or(config_.usual_scale()));
  }
  return options;
}

Mask MultiHeadAttention::with_positions(const Mask& mask, const TensorView& queries,
                                        const TensorView& keys, const RelativePositions& positions,
                                        const Context& context) const {
  const DisentangledScores::Inputs inputs{
      positions_first(queries), positions_first(keys), query_, key_, positions,
      options().score.scale};
  return mask & disentangled_->biases(inputs, context);
}

void MultiHeadAttention::forward(const Inputs& inputs, const AttentionState& state,
                                 const MutableTensorView& output, const Context& context,
                                 Write write) const {
  const Shape& shape = inputs.queries.shape();
  check("queries", inputs.queries, shape.rank() == 3 ? shape[0] : 0, config_.query_features);
  Arena::Frame frame(context.arena);
  const MutableTensorView queries = project_queries(inputs, state, context);
  const PackedKeyValues* keys_values = nullptr;
  PackedKeyValues own;
  Mask mask = state.mask;
  if (state.cache != nullptr && state.role == KeyRole::memory) {
    keys_values = state.cache->memory(state.layer);
  }
  if (keys_values == nullptr) {
    const Projected projected = project(inputs, state, context);
    if (disentangled_) {
      mask = with_positions(mask, queries, projected.keys, *state.relative, context);
    }
    keys_values = &packed(projected, state, own, context.arena);
  }
  const MutableTensorView mixed =
      context.arena.take({shape[0], shape[1], config_.num_heads, config_.d_head});
  MutableTensorView softmax;
  if (context.trace.keeps()) {
    softmax = context.arena.take({shape[0], config_.num_heads, shape[1], 2});
  }
  attention(positions_first(queries), *keys_values, mask, options(), positions_first_mutable(mixed),
            context, softmax.f32());
  context.trace.keep("softmax", softmax);
  if (gate_ || context.trace.edits("hook_z")) context.trace.keep("given_z", mixed);
  if (gate_) gate_->apply(inputs.queries, mixed, context);
  context.trace("hook_z", mixed, kQueryLegend);
  context.trace.keep("z", mixed);
  if (offer_head_results(output_, mixed, output, write, context)) return;
  output_.forward(mixed.reshaped({shape[0], shape[1], config_.num_heads * config_.d_head}), output,
                  write);
}

}  // namespace clearformer
