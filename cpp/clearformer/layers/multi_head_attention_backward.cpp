#include <cmath>
#include <cstring>

#include "clearformer/layers/attention_traced_backward.h"
#include "clearformer/layers/multi_head_attention.h"

namespace clearformer {

namespace {

constexpr std::string_view kQueryGradient = "batch pos head d_head";
constexpr std::string_view kKeyGradient = "batch key_pos key_value_head d_head";

}  // namespace

// d (B, T, H, d) in place; what was clipped passes nothing on.
void MultiHeadAttention::clip_back(const char* what, const MutableTensorView& d,
                                   const Context& context) const {
  if (config_.clip <= 0.0f) return;
  const TensorView clipped = context.trace.kept(what);
  for (std::size_t i = 0; i < d.elements(); ++i) {
    if (std::fabs(clipped.f32()[i]) >= config_.clip) d.f32()[i] = 0.0f;
  }
}

void MultiHeadAttention::normalize_back(const Normalization& norm, const MutableTensorView& d,
                                        const Context& context) const {
  const MutableTensorView rows = config_.norm_joins_heads ? heads_joined(d) : d;
  norm.backward(rows, rows, Write::over, context);
}

// The mirror of place().
void MultiHeadAttention::place_back(const Side& side, const std::optional<Normalization>& norm,
                                    const RotaryTable* rotary, const MutableTensorView& d,
                                    const Context& context) const {
  if (rotary != nullptr) context.trace.back(side.rotated, d, side.legend);
  if (norm && config_.norm_after_rotation) normalize_back(*norm, d, context / side.norm);
  if (rotary != nullptr) RotaryEmbedding::rotate_back(d, *rotary);
  if (norm && !config_.norm_after_rotation) normalize_back(*norm, d, context / side.norm);
}

// The gradient of x of with_extra(): learned rows add theirs up over the batch.
MutableTensorView MultiHeadAttention::without_extra(const MutableTensorView& d,
                                                    const Tensor& learned,
                                                    const Context& context) const {
  if (extra_keys() == 0) return d;
  const std::size_t row = d.dim(2) * d.dim(3), longer = d.dim(1), length = longer - extra_keys();
  const MutableTensorView own = context.arena.take({d.dim(0), length, d.dim(2), d.dim(3)});
  WeightGradients* const weights = context.trace.weights();
  float* const sums = weights == nullptr ? nullptr : weights->of(learned);
  for (std::size_t batch = 0; batch < d.dim(0); ++batch) {
    const float* from = d.f32() + batch * longer * row;
    std::memcpy(own.f32() + batch * length * row, from, length * row * sizeof(float));
    for (std::size_t i = 0; i < row && sums != nullptr; ++i) sums[i] += from[length * row + i];
  }
  return own;
}

void MultiHeadAttention::queries_back(const TensorView& x, const AttentionState& state,
                                      const MutableTensorView& dq, const InputGradients& d,
                                      Write write, const Context& context) const {
  const TraceScope& trace = context.trace;
  place_back({"q_norm", "hook_rot_q", kQueryGradient}, query_norm_, state.rotary, dq, context);
  trace.back("hook_q", dq, kQueryGradient);
  clip_back("clipped_q", dq, context);
  if (d.readers != nullptr && head_inputs_back("hook_q_input", query_, dq, *d.readers)) {
    if (write == Write::over) std::memset(d.queries.data(), 0, d.queries.bytes());
    return;
  }
  query_.backward(x, heads_joined(dq), d.queries, write, trace.weights(), context.arena);
}

void MultiHeadAttention::keys_back(const Inputs& inputs, const AttentionState& state,
                                   const MutableTensorView& dk, const MutableTensorView& dv,
                                   const InputGradients& d, const Context& outer) const {
  const bool of_memory = state.role == KeyRole::memory;
  const Context context{outer.arena, of_memory ? outer.trace.after(0) : outer.trace};
  const TraceScope& trace = context.trace;
  place_back({"k_norm", "hook_rot_k", kKeyGradient}, key_norm_, state.rotary, dk, context);
  trace.back("hook_v", dv, kKeyGradient);
  trace.back("hook_k", dk, kKeyGradient);
  clip_back("clipped_v", dv, context);
  clip_back("clipped_k", dk, context);
  WeightGradients* const weights = trace.weights();
  const auto read_apart = [&](std::string_view hook, const Linear& layer, const TensorView& dx) {
    return d.readers != nullptr && head_inputs_back(hook, layer, dx, *d.readers);
  };
  const bool own_values = read_apart("hook_v_input", value_, dv);
  const bool own_keys = read_apart("hook_k_input", key_, dk);
  if (!own_keys) {
    key_.backward(inputs.keys, heads_joined(dk), d.keys, Write::onto, weights, context.arena);
  }
  if (!own_values) {
    value_.backward(inputs.values, heads_joined(dv), d.values, Write::onto, weights, context.arena);
  }
}

// From the gradient of the mixed values: those of queries, keys and values as the core of attention reads them, in the
// arena.
MultiHeadAttention::CoreGradients MultiHeadAttention::core_back(const MutableTensorView& d_mixed,
                                                                const AttentionState& state,
                                                                const Context& context) const {
  Arena& arena = context.arena;
  const TraceScope& trace = context.trace;
  WeightGradients* const weights = trace.weights();
  TensorView queries = trace.kept("queries"), keys = trace.kept("keys");
  const TensorView values = trace.kept("values");
  CoreGradients d{arena.take(queries.shape()), arena.take(keys.shape()),
                  arena.take(values.shape())};
  const Arena::Frame frame(arena);
  MutableTensorView dq = d.queries, dk = d.keys;
  if (additive_) {
    const auto hidden = [&](const TensorView& x) {
      return arena.take({x.dim(0), x.dim(1), x.dim(2), additive_->hidden()});
    };
    dq = hidden(queries);
    dk = hidden(keys);
    const MutableTensorView hidden_queries = hidden(queries), hidden_keys = hidden(keys);
    additive_->project_queries(queries, hidden_queries);
    additive_->project_keys(keys, hidden_keys);
    queries = hidden_queries;
    keys = hidden_keys;
  }
  const AttentionOptions how = options();
  const TensorView mixed = trace.kept(trace.has_kept("given_z") ? "given_z" : "z");
  const AttentionKept kept{positions_first(queries), positions_first(keys), positions_first(values),
                           positions_first(mixed), trace.kept("softmax").f32()};
  AttentionGradients to{positions_first_mutable(dq), positions_first_mutable(dk),
                        positions_first_mutable(d.values)};
  if (state.d_bias != nullptr) to.bias = *state.d_bias;
  if (additive_ && weights != nullptr) to.weights = weights->of(additive_->weight());
  Mask mask = state.mask;
  if (disentangled_) {
    mask = mask & DisentangledScores::kept_biases(trace);
    to.bias = arena.take({queries.dim(0), config_.num_heads, queries.dim(1), keys.dim(1)});
    std::memset(to.bias.data(), 0, to.bias.bytes());
  }
  if (!traced_attention_backward(kept, mask, how, positions_first(d_mixed), to, context)) {
    attention_backward(kept, mask, how, positions_first(d_mixed), to, arena);
  }
  if (disentangled_) {
    const DisentangledScores::Inputs of{kept.queries, kept.keys,       query_,
                                        key_,         *state.relative, how.score.scale};
    const MutableTensorView rows =
        state.d_relative == nullptr ? MutableTensorView() : *state.d_relative;
    disentangled_->backward(of, to.bias, {to.queries, to.keys, rows}, context);
  }
  if (additive_) {
    additive_->queries_back(trace.kept("queries"), dq, d.queries, weights, arena);
    additive_->keys_back(trace.kept("keys"), dk, d.keys, weights, arena);
  }
  return d;
}

void MultiHeadAttention::backward(const Inputs& inputs, const AttentionState& state,
                                  const TensorView& d_output, const InputGradients& d, Write write,
                                  const Context& context) const {
  const Arena::Frame frame(context.arena);
  const TraceScope& trace = context.trace;
  const TensorView mixed = trace.kept("z");
  const MutableTensorView d_mixed = context.arena.take(mixed.shape());
  if (!head_results_back(output_, mixed, d_output, d_mixed, context)) {
    output_.backward(mixed.reshaped(heads_joined(d_mixed).shape()), d_output, heads_joined(d_mixed),
                     Write::over, trace.weights(), context.arena);
  }
  trace.back("hook_z", d_mixed, kQueryGradient);
  if (gate_) {
    gate_->backward(inputs.queries, d_mixed, d.queries, write, context);
    write = Write::onto;
  }
  const CoreGradients core = core_back(d_mixed, state, context);
  queries_back(inputs.queries, state, core.queries, d, write, context);
  keys_back(inputs, state, without_extra(core.keys, extra_key_, context),
            without_extra(core.values, extra_value_, context), d, context);
}

}  // namespace clearformer
