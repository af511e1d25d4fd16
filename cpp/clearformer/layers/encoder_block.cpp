#include "clearformer/layers/encoder_block.h"

namespace clearformer {

EncoderBlock::EncoderBlock(const WeightScope& scope, const BlockConfig& config)
    : order_(config.order),
      attention_add_norm_(scope / "ln1", config.norm, config.order),
      attention_(scope / "attn", config.attention),
      feed_forward_add_norm_(scope / "ln2", config.norm, config.order),
      feed_forward_(scope / "mlp", config.feed_forward) {}

void EncoderBlock::forward(MutableTensorView x, const AttentionState& state,
                           const Context& context) const {
  context.trace("hook_resid_pre", x, "batch pos d_model");
  attention_add_norm_.forward(x, {"ln1", "hook_attn_out", "hook_resid_mid"}, context,
                              [&](TensorView in, MutableTensorView out) {
                                attention_.forward(in, state, out, context / "attn");
                              });
  feed_forward_add_norm_.forward(x, {"ln2", "hook_mlp_out", "hook_resid_post"}, context,
                                 [&](TensorView in, MutableTensorView out) {
                                   feed_forward_.forward(in, out, context / "mlp");
                                 });
  if (order_ == NormOrder::post) {
    context.trace("hook_normalized_resid_post", x, "batch pos d_model");
  }
}

}  // namespace clearformer
