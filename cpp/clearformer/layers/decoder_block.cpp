#include "clearformer/layers/decoder_block.h"

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

DecoderBlock::DecoderBlock(const WeightScope& scope, const BlockConfig& config)
    : attention_norm_(scope / "ln1", config.norm, config.attention.d_model, config.norm_eps),
      attention_(scope / "attn", config.attention),
      feed_forward_norm_(scope / "ln2", config.norm, config.attention.d_model, config.norm_eps),
      feed_forward_(scope / "mlp", config.feed_forward) {}

void DecoderBlock::forward(MutableTensorView x, const AttentionState& state,
                           const Context& context) const {
  constexpr std::string_view kLegend = "batch pos d_model";
  Arena::Frame frame(context.arena);
  const MutableTensorView normalized = context.arena.take(x.shape());
  const MutableTensorView update = context.arena.take(x.shape());
  const auto add_update = [&] {
    kernels::add(x.f32(), update.f32(), x.f32(), x.elements());
  };
  context.trace("hook_resid_pre", x, kLegend);
  attention_norm_.forward(x, normalized, context / "ln1");
  attention_.forward(normalized, state, update, context / "attn");
  context.trace("hook_attn_out", update, kLegend);
  add_update();
  context.trace("hook_resid_mid", x, kLegend);
  feed_forward_norm_.forward(x, normalized, context / "ln2");
  feed_forward_.forward(normalized, update, context / "mlp");
  context.trace("hook_mlp_out", update, kLegend);
  add_update();
  context.trace("hook_resid_post", x, kLegend);
}

}  // namespace clearformer
