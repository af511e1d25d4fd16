#include "clearformer/layers/decoder_block.h"

namespace clearformer {

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
  attention_add_norm_.forward(x, {"ln1", "hook_attn_out", "hook_resid_mid"}, context,
                              [&](const TensorView& in, const MutableTensorView& out, Write write) {
                                Arena::Frame frame(context.arena);
                                attention_.forward(
                                    {in, in, in, attention_.offer_inputs(x, norm, context)}, state,
                                    out, context / "attn", write);
                              });
  cross_add_norm_.forward(x, {"ln2", "hook_cross_attn_out", "hook_resid_mid_cross"}, context,
                          [&](const TensorView& in, const MutableTensorView& out, Write write) {
                            cross_attention_.forward({in, memory, memory}, cross_state, out,
                                                     context / "cross_attn", write);
                          });
  feed_forward_add_norm_.forward(
      x, {"ln3", "hook_mlp_out", "hook_resid_post", "hook_mlp_in"}, context,
      [&](const TensorView& in, const MutableTensorView& out, Write write) {
        feed_forward_.forward(in, out, context / "mlp", write);
      });
  if (order_ == NormOrder::post) {
    context.trace("hook_normalized_resid_post", x, "batch pos d_model");
  }
}

}  // namespace clearformer
