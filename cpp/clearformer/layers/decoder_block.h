// Decoder block: masked self-attention, cross-attention to the encoder's output, then a
// feed-forward network, each with residual and norm (see add_norm.h for the orders).
// Source: Vaswani et al. 2017, section 3.1. Shapes: x (B, T, D), memory (B, S, D).
// Hook points: hook_resid_pre, hook_attn_out, hook_resid_mid, hook_cross_attn_out,
//              hook_resid_mid_cross, hook_mlp_out, hook_resid_post (B, T, D), post-norm also
//              hook_normalized_resid_post; ln1, attn, ln2, cross_attn, ln3, mlp; on request those of
//              encoder_block.h, of the self-attention.
#pragma once

#include "clearformer/layers/encoder_block.h"

namespace clearformer {

/// One layer of a decoder: self-attention, attention to the memory, feed-forward.
class DecoderBlock {
 public:
  /// Loads "ln1", "attn", "ln2", "cross_attn", "ln3", "mlp".
  DecoderBlock(const WeightScope& scope, const BlockConfig& config);

  /// Updates x (B, T, D) in place; memory (B, S, D) is the encoder's output.
  void forward(const MutableTensorView& x, const TensorView& memory, const AttentionState& state,
               const AttentionState& cross_state, const Context& context) const;

  /// Turns d (B, T, D), the gradient of the updated x, into that of x, in place, and adds to that of the memory,
  /// d_memory (B, S, D).
  void backward(const MutableTensorView& d, const TensorView& memory,
                const MutableTensorView& d_memory, const AttentionState& state,
                const AttentionState& cross_state, const Context& context) const;

  /// The self-attention or the cross-attention.
  const MultiHeadAttention& attention(KeyRole keys) const {
    return keys == KeyRole::memory ? cross_attention_ : attention_;
  }

 private:
  NormOrder order_;
  AddNorm attention_add_norm_;
  MultiHeadAttention attention_;
  AddNorm cross_add_norm_;
  MultiHeadAttention cross_attention_;
  AddNorm feed_forward_add_norm_;
  FeedForward feed_forward_;
};

}  // namespace clearformer
