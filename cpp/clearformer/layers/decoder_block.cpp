#include "clearformer/layers/decoder_block.h"

namespace clearformer {

namespace {
constexpr AddNormHooks kAttention{"ln1", "hook_attn_out", "hook_resid_mid"};
constexpr AddNormHooks kCross{"ln2", "hook_cross_attn_out", "hook_resid_mid_cross"};
constexpr AddNormHooks kLast{"ln3", "hook_mlp_out", "hook_resid_post", "hook_mlp_in"};
}  // namespace

DecoderBlock::DecoderBlock(const WeightScope& scope, const BlockConfig& config)
    : order_(config.order),
      attention_add_norm_(scope, "ln1", config.norm, config.order),
      attention_(scope / "attn", config.attention),
      cross_add_norm_(scope, "ln2", config.norm, config.order),
      cross_attention_(scope / "cross_attn", config.attention),
      feed_forward_add_norm_(scope, "ln3", config.norm, config.order),
      feed_forward_(scope / "mlp", config.feed_forward) {}

void DecoderBlock::forward(const MutableTensorView& x, const TensorView& memory,
                           const AttentionState& state, const AttentionState& cross_state,
                           const Context& context) const {
  context.trace("hook_resid_pre", x, "batch pos d_model");
  const Normalization* const norm = attention_add_norm_.input_norm();
  attention_add_norm_.forward(
      x, kAttention, context, [&](const TensorView& in, const MutableTensorView& out, Write write) {
        Arena::Frame frame(context.arena);
        attention_.forward({in, in, in, attention_.offer_inputs(x, norm, context)}, state, out,
                           context / "attn", write);
      });
  cross_add_norm_.forward(x, kCross, context,
                          [&](const TensorView& in, const MutableTensorView& out, Write write) {
                            cross_attention_.forward({in, memory, memory}, cross_state, out,
                                                     context / "cross_attn", write);
                          });
  feed_forward_add_norm_.forward(
      x, kLast, context, [&](const TensorView& in, const MutableTensorView& out, Write write) {
        feed_forward_.forward(in, out, context / "mlp", write);
      });
  if (order_ == NormOrder::post) {
    context.trace("hook_normalized_resid_post", x, "batch pos d_model");
  }
}

void DecoderBlock::backward(const MutableTensorView& d, const TensorView& memory,
                            const MutableTensorView& d_memory, const AttentionState& state,
                            const AttentionState& cross_state, const Context& context) const {
  constexpr std::string_view kLegend = "batch pos d_model";
  if (order_ == NormOrder::post) context.trace.back("hook_normalized_resid_post", d, kLegend);
  feed_forward_add_norm_.backward(
      d, kLast, context,
      [&](const TensorView& in, const TensorView& d_out, const MutableTensorView& d_in,
          Write write) { feed_forward_.backward(in, d_out, d_in, write, context / "mlp"); });
  cross_add_norm_.backward(d, kCross, context,
                           [&](const TensorView& in, const TensorView& d_out,
                               const MutableTensorView& d_in, Write write) {
                             cross_attention_.backward({in, memory, memory}, cross_state, d_out,
                                                       {d_in, d_memory, d_memory}, write,
                                                       context / "cross_attn");
                           });
  attention_add_norm_.backward(
      d, kAttention, context,
      [&](const TensorView& in, const TensorView& d_out, const MutableTensorView& d_in,
          Write write) {
        const InputReaders readers{attention_add_norm_.input_norm(), context, d};
        attention_.backward(in, state, d_out, d_in, write, context / "attn", &readers);
      });
  context.trace.back("hook_resid_pre", d, kLegend);
}

}  // namespace clearformer
