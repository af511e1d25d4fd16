#include "clearformer/layers/encoder_block.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

namespace {
constexpr std::string_view kLegend = "batch pos d_model";
constexpr AddNormHooks kAttentionHooks{"ln1", "hook_attn_out", "hook_resid_mid"};
constexpr AddNormHooks kFeedForwardHooks{"ln2", "hook_mlp_out", "hook_resid_post", "hook_mlp_in"};
}  // namespace

EncoderBlock::EncoderBlock(const WeightScope& scope, const BlockConfig& config)
    : order_(config.order),
      attention_add_norm_(scope, "ln1", config.attention_norm.value_or(config.norm), config.order,
                          config.residual_scale, config.layer_scale),
      attention_(config.convolution || config.delta
                     ? nullptr
                     : std::make_unique<MultiHeadAttention>(scope / "attn", config.attention)),
      other_(attention_ ? nullptr : PositionMixer::of(scope, config)),
      feed_forward_(scope / "mlp", config.feed_forward) {
  if (order_ != NormOrder::parallel) {
    feed_forward_add_norm_.emplace(scope, "ln2", config.norm, config.order, config.residual_scale,
                                   config.layer_scale);
  }
}

void EncoderBlock::forward(const MutableTensorView& x, const AttentionState& state,
                           const Context& context) const {
  context.trace("hook_resid_pre", x, kLegend);
  if (order_ == NormOrder::parallel || order_ == NormOrder::parallel_two) {
    return parallel(x, state, context);
  }
  attention_add_norm_.forward(x, kAttentionHooks, context,
                              [&](const TensorView& in, const MutableTensorView& out, Write write) {
                                mix(in, x, state, out, write, context);
                              });
  feed_forward_add_norm_->forward(
      x, kFeedForwardHooks, context,
      [&](const TensorView& in, const MutableTensorView& out, Write write) {
        feed_forward_.forward(in, out, context / "mlp", write);
      });
  if (order_ == NormOrder::post) context.trace("hook_normalized_resid_post", x, kLegend);
}

// The first sub-layer of `in`, the norm of the stream x.
void EncoderBlock::mix(const TensorView& in, const TensorView& x, const AttentionState& state,
                       const MutableTensorView& out, Write write, const Context& context) const {
  if (other_) {
    const auto past = state.cache == nullptr ? nullptr : &state.cache->past(state.layer);
    return other_->forward(in, state.padding, past, out, write, context / other_->name);
  }
  const Arena::Frame frame(context.arena);
  const Normalization* const norm = attention_add_norm_.input_norm();
  attention_->forward({in, in, in, attention_->offer_inputs(x, norm, context)}, state, out,
                      context / "attn", write);
}

void EncoderBlock::mix_back(const TensorView& in, const AttentionState& state,
                            const TensorView& d_out, const MutableTensorView& d_in, Write write,
                            const InputReaders& readers) const {
  const Context& context = readers.context;
  if (other_) {
    return other_->backward(in, state.padding, d_out, d_in, write, context / other_->name);
  }
  attention_->backward(in, state, d_out, d_in, write, context / "attn", &readers);
}

// What the feed-forward network reads beside the attention: x, or a copy that the trace may edit.
TensorView EncoderBlock::feed_forward_input(const TensorView& x, const Context& context) {
  if (!context.trace.wants("hook_mlp_in")) return x;
  const MutableTensorView copy = context.arena.take(x.shape());
  std::memcpy(copy.data(), x.data(), copy.bytes());
  context.trace("hook_mlp_in", copy, kLegend);
  return copy;
}

void EncoderBlock::parallel(const MutableTensorView& x, const AttentionState& state,
                            const Context& context) const {
  Arena::Frame frame(context.arena);
  const MutableTensorView normalized = context.arena.take(x.shape());
  const MutableTensorView attended = context.arena.take(x.shape());
  const MutableTensorView transformed = context.arena.take(x.shape());
  const Normalization& norm = attention_add_norm_.norm();
  norm.forward(x, normalized, context / "ln1");
  mix(normalized, x, state, attended, Write::over, context);
  context.trace("hook_attn_out", attended, kLegend);
  const TensorView own_in = feed_forward_input(x, context);
  if (feed_forward_add_norm_) {
    feed_forward_add_norm_->norm().forward(own_in, normalized, context / "ln2");
  } else if (context.trace.edits("hook_mlp_in")) {
    refuse_norm_edits("hook_mlp_in", context);
    keep_own_input("hook_mlp_in", own_in, context);
    norm.forward(own_in, normalized, {context.arena, TraceScope()});
  }
  feed_forward_.forward(normalized, transformed, context / "mlp");
  context.trace("hook_mlp_out", transformed, kLegend);
  kernels::add(x.f32(), attended.f32(), x.f32(), x.elements());
  kernels::add(x.f32(), transformed.f32(), x.f32(), x.elements());
  context.trace("hook_resid_post", x, kLegend);
}

void EncoderBlock::backward(const MutableTensorView& d, const AttentionState& state,
                            const Context& context) const {
  if (order_ == NormOrder::parallel || order_ == NormOrder::parallel_two) {
    parallel_back(d, state, context);
  } else {
    if (order_ == NormOrder::post) context.trace.back("hook_normalized_resid_post", d, kLegend);
    feed_forward_add_norm_->backward(
        d, kFeedForwardHooks, context,
        [&](const TensorView& in, const TensorView& d_out, const MutableTensorView& d_in,
            Write write) { feed_forward_.backward(in, d_out, d_in, write, context / "mlp"); });
    attention_add_norm_.backward(d, kAttentionHooks, context,
                                 [&](const TensorView& in, const TensorView& d_out,
                                     const MutableTensorView& d_in, Write write) {
                                   mix_back(in, state, d_out, d_in, write,
                                            {attention_add_norm_.input_norm(), context, d});
                                 });
  }
  context.trace.back("hook_resid_pre", d, kLegend);
}

// g'd of the feed-forward network that shares the attention's norm, unless it read an input of its own.
bool EncoderBlock::shared_norm_back(const TensorView& in, const TensorView& d_out,
                                    const MutableTensorView& d_in,
                                    const InputReaders& readers) const {
  const Context& context = readers.context;
  const TraceScope& trace = context.trace;
  const Arena::Frame frame(context.arena);
  const bool own = read_own_input("hook_mlp_in", context);
  const Normalization& norm = *readers.norm;
  const Normalization::Kept kept =
      own ? norm.kept_of(trace.kept("own_hook_mlp_in"), context.arena) : norm.kept(trace / "ln1");
  feed_forward_.backward(own ? norm.output_of(kept.normalized, context.arena) : in, d_out, d_in,
                         Write::over, context / "mlp");
  if (!trace.concerns_back("hook_mlp_in")) return false;
  const MutableTensorView x = context.arena.take(d_in.shape());
  norm.backward(kept, d_in, x, Write::over, own ? trace.weights() : nullptr, context.arena);
  own_input_back("hook_mlp_in", kLegend, x, readers);
  return own;
}

// d += N_1'f'd + N_2'g'd, with one norm d += N'(f'd + g'd)
void EncoderBlock::parallel_back(const MutableTensorView& d, const AttentionState& state,
                                 const Context& context) const {
  Arena::Frame frame(context.arena);
  const Context norm = context / "ln1", second = context / "ln2";
  const bool weights = context.trace.weights() != nullptr;
  const MutableTensorView d_in = context.arena.take(d.shape());
  const MutableTensorView attended = context.arena.take(d.shape());
  const MutableTensorView transformed = context.arena.take(d.shape());
  context.trace.back("hook_resid_post", d, kLegend);
  std::memcpy(attended.data(), d.data(), d.bytes());
  std::memcpy(transformed.data(), d.data(), d.bytes());
  const TensorView in =
      weights ? attention_add_norm_.norm().output_again(d.shape(), norm) : TensorView();
  context.trace.back("hook_mlp_out", transformed, kLegend);
  const InputReaders readers{&attention_add_norm_.norm(), context, d};
  bool apart = feed_forward_add_norm_.has_value();  // the inputs of both are not one
  if (feed_forward_add_norm_) {
    const Normalization& own = feed_forward_add_norm_->norm();
    const TensorView second_in = weights ? own.output_again(d.shape(), second) : TensorView();
    feed_forward_.backward(second_in, transformed, d_in, Write::over, context / "mlp");
    if (context.trace.concerns_back("hook_mlp_in")) {
      own.backward(d_in, d_in, Write::over, second);
      context.trace.back("hook_mlp_in", d_in, kLegend);
      kernels::add(d.f32(), d_in.f32(), d.f32(), d.elements());
    } else {
      own.backward(d_in, d, Write::onto, second);
    }
  } else {
    apart = shared_norm_back(in, transformed, d_in, readers);
  }
  context.trace.back("hook_attn_out", attended, kLegend);
  mix_back(in, state, attended, d_in, apart ? Write::over : Write::onto, readers);
  attention_add_norm_.norm().backward(d_in, d, Write::onto, norm);
}

}  // namespace clearformer
