// Decoder block, pre-norm:  x = x + SelfAttention(Norm(x));  x = x + FeedForward(Norm(x))
// Source: Vaswani et al. 2017, section 3.1; norm before: Xiong et al. 2020, arXiv 2002.04745.
// Shapes: x (B, T, D), the residual stream.
// Hook points: hook_resid_pre, hook_attn_out, hook_resid_mid, hook_mlp_out, hook_resid_post
//              (B, T, D); ln1, attn, ln2, mlp.
#pragma once

#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/multi_head_attention.h"
#include "clearformer/layers/normalization.h"

namespace clearformer {

struct BlockConfig {
  AttentionConfig attention;
  FeedForwardConfig feed_forward;
  NormKind norm = NormKind::layer;
  float norm_eps = 1e-5f;
};

class DecoderBlock {
 public:
  /// Loads "ln1", "attn", "ln2", "mlp".
  DecoderBlock(const WeightScope& scope, const BlockConfig& config);

  /// Updates the residual stream x (B, T, D) in place.
  void forward(MutableTensorView x, const AttentionState& state, const Context& context) const;

 private:
  Normalization attention_norm_;
  MultiHeadAttention attention_;
  Normalization feed_forward_norm_;
  FeedForward feed_forward_;
};

}  // namespace clearformer
