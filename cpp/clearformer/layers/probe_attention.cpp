#include "clearformer/layers/probe_attention.h"

#include <cstring>

namespace clearformer {

ProbeAttention::ProbeAttention(const WeightScope& scope, const ProbeAttentionConfig& config)
    : probe_(scope.take_flat("probe", {1, config.attention.d_model})),
      attention_(scope / "attn", config.attention),
      add_norm_(scope, "ln2", config.norm, NormOrder::pre),
      feed_forward_(scope / "mlp", config.feed_forward) {}

void ProbeAttention::forward(const TensorView& x, const MutableTensorView& pooled,
                             const Context& context) const {
  Arena::Frame frame(context.arena);
  const MutableTensorView queries = context.arena.take(pooled.shape());
  for (std::size_t row = 0; row < x.dim(0); ++row) {
    std::memcpy(queries.f32() + row * probe_.elements(), probe_.data(), probe_.view().bytes());
  }
  const Mask all;
  attention_.forward({queries, x, x}, {all}, pooled, context / "attn");
  context.trace("hook_attn_out", pooled, "batch pos d_model");
  add_norm_.forward(pooled, {"ln2", "hook_mlp_out", "hook_resid_post"}, context,
                    [&](const TensorView& in, const MutableTensorView& out, Write write) {
                      feed_forward_.forward(in, out, context / "mlp", write);
                    });
}

}  // namespace clearformer
