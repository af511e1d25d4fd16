// Attention pooling with a learned query, the probe, instead of a class token:
//   y = a + FFN(Norm(a)),  a = MultiHead(probe, x, x)
// Source: Zhai et al. 2021, arXiv 2106.04560, section 3.2 (MAP head), after Lee et al. 2018, arXiv 1810.00825.
// Shapes: x (B, T, D), probe (1, D), y (B, 1, D).
// Hook points: attn.… (its pattern: (B, H, 1, T)), hook_attn_out, ln2.…, mlp.…, hook_mlp_out, hook_resid_post.
#pragma once

#include "clearformer/layers/add_norm.h"
#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/multi_head_attention.h"

namespace clearformer {

/// The parts of a ProbeAttention.
struct ProbeAttentionConfig {
  AttentionConfig attention = {};
  FeedForwardConfig feed_forward = {};
  NormConfig norm = {};
};

/// Pools a sequence by the attention of one learned query, and a feed-forward network.
class ProbeAttention {
 public:
  /// Loads "probe", "attn", "ln2", "mlp".
  ProbeAttention(const WeightScope& scope, const ProbeAttentionConfig& config);

  /// x (B, T, D) -> pooled (B, 1, D).
  void forward(const TensorView& x, const MutableTensorView& pooled, const Context& context) const;
  /// From d (B, 1, D), the gradient of `pooled`, which is overwritten: adds that of x to dx (B, T, D).
  void backward(const TensorView& x, const MutableTensorView& d, const MutableTensorView& dx,
                const Context& context) const;

 private:
  MutableTensorView queries(std::size_t batch, Arena& arena) const;

  Tensor probe_;  // (1, D)
  MultiHeadAttention attention_;
  AddNorm add_norm_;
  FeedForward feed_forward_;
};

}  // namespace clearformer
