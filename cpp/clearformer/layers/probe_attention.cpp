#include "clearformer/layers/probe_attention.h"

#include <cstring>

namespace clearformer {

namespace {
constexpr AddNormHooks kProbeHooks{"ln2", "hook_mlp_out", "hook_resid_post"};
}  // namespace

ProbeAttention::ProbeAttention(const WeightScope& scope, const ProbeAttentionConfig& config)
    : probe_(scope.take_flat("probe", {1, config.attention.d_model})),
      attention_(scope / "attn", config.attention),
      add_norm_(scope, "ln2", config.norm, NormOrder::pre),
      feed_forward_(scope / "mlp", config.feed_forward) {}

// The probe for each sequence.
MutableTensorView ProbeAttention::queries(std::size_t batch, Arena& arena) const {
  const MutableTensorView queries = arena.take({batch, 1, probe_.elements()});
  for (std::size_t row = 0; row < batch; ++row) {
    std::memcpy(queries.f32() + row * probe_.elements(), probe_.data(), probe_.view().bytes());
  }
  return queries;
}

void ProbeAttention::forward(const TensorView& x, const MutableTensorView& pooled,
                             const Context& context) const {
  Arena::Frame frame(context.arena);
  const Mask all;
  attention_.forward({queries(x.dim(0), context.arena), x, x}, {all}, pooled, context / "attn");
  context.trace("hook_attn_out", pooled, "batch pos d_model");
  add_norm_.forward(pooled, kProbeHooks, context,
                    [&](const TensorView& in, const MutableTensorView& out, Write write) {
                      feed_forward_.forward(in, out, context / "mlp", write);
                    });
}

void ProbeAttention::backward(const TensorView& x, const MutableTensorView& d,
                              const MutableTensorView& dx, const Context& context) const {
  Arena::Frame frame(context.arena);
  add_norm_.backward(
      d, kProbeHooks, context,
      [&](const TensorView& in, const TensorView& d_out, const MutableTensorView& d_in,
          Write write) { feed_forward_.backward(in, d_out, d_in, write, context / "mlp"); });
  context.trace.back("hook_attn_out", d, "batch pos d_model");
  const MutableTensorView d_queries = context.arena.take(d.shape());
  const Mask all;
  attention_.backward({queries(x.dim(0), context.arena), x, x}, {all}, d, {d_queries, dx, dx},
                      Write::over, context / "attn");
  WeightGradients* const weights = context.trace.weights();
  if (float* const sums = weights == nullptr ? nullptr : weights->of(probe_)) {
    add_sum_of_rows(d_queries.f32(), nullptr, d.dim(0), probe_.elements(), sums);
  }
}

}  // namespace clearformer
