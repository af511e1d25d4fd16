// Encoder block: self-attention, or a short convolution or a delta rule in its place, then a feed-forward network, each with residual
// and norm (see add_norm.h for the orders). With a causal mask it is the block of decoder-only models.
// Source: Vaswani et al. 2017, section 3.1. Shapes: x (B, T, D), the residual stream.
// Hook points: hook_resid_pre, hook_attn_out, hook_resid_mid, hook_mlp_out, hook_resid_post
//              (B, T, D), post-norm also hook_normalized_resid_post, parallel without hook_resid_mid;
//              ln1, attn, conv or delta, ln2, mlp, with a norm after a sub-layer also ln1_post, ln2_post; on request those of
//              separate_heads.h and, except with post-norm, hook_mlp_in (B, T, D), a copy of the stream that the
//              feed-forward network alone reads.
#pragma once

#include <memory>

#include "clearformer/layers/add_norm.h"
#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/gated_delta_rule.h"
#include "clearformer/layers/multi_head_attention.h"
#include "clearformer/layers/short_convolution.h"

namespace clearformer {

/// The parts of an encoder or decoder block.
struct BlockConfig {
  AttentionConfig attention = {};
  FeedForwardConfig feed_forward = {};
  NormConfig norm = {};
  NormOrder order = NormOrder::pre;
  std::optional<NormConfig> attention_norm = {};  // of ln1, if different from the others
  float residual_scale = 1.0f;                    // of what each sub-layer adds (Granite)
  LayerScale layer_scale = LayerScale::none;      // of encoder blocks with pre-norm (DINOv2)
  // Of encoder blocks, in place of attention:
  std::optional<ShortConvolutionConfig> convolution = {};  // or
  std::optional<GatedDeltaConfig> delta = {};
};

/// One layer of an encoder, or of a decoder without memory: self-attention or what is in its place, feed-forward.
class EncoderBlock {
 public:
  /// Loads "ln1", "attn", "conv" or "delta", "ln2" (except for NormOrder::parallel, where the norm is shared), "mlp", with a layer
  /// scale "ln1_scale", "ln2_scale".
  EncoderBlock(const WeightScope& scope, const BlockConfig& config);

  /// Updates x (B, T, D) in place.
  void forward(const MutableTensorView& x, const AttentionState& state,
               const Context& context) const;
  /// Turns d (B, T, D), the gradient of the updated x, into that of x, in place.
  void backward(const MutableTensorView& d, const AttentionState& state,
                const Context& context) const;

  /// Null if it has none.
  const MultiHeadAttention* attention() const { return attention_.get(); }

 private:
  void mix(const TensorView& in, const TensorView& x, const AttentionState& state,
           const MutableTensorView& out, Write write, const Context& context) const;
  void mix_back(const TensorView& in, const AttentionState& state, const TensorView& d_out,
                const MutableTensorView& d_in, Write write, const InputReaders& readers) const;
  void parallel(const MutableTensorView& x, const AttentionState& state,
                const Context& context) const;
  static TensorView feed_forward_input(const TensorView& x, const Context& context);
  void parallel_back(const MutableTensorView& d, const AttentionState& state,
                     const Context& context) const;
  bool shared_norm_back(const TensorView& in, const TensorView& d_out,
                        const MutableTensorView& d_in, const InputReaders& readers) const;

  NormOrder order_;
  AddNorm attention_add_norm_;
  std::unique_ptr<MultiHeadAttention> attention_;  // or
  std::unique_ptr<PositionMixer> other_;
  std::optional<AddNorm> feed_forward_add_norm_;
  FeedForward feed_forward_;
};

}  // namespace clearformer
