// Multi-head attention:  MultiHead(X) = concat(head_1, …, head_H)·W_O,
//   head_h = Attention(X·W_Q^h, X·W_K^g, X·W_V^g),  g = h / (H / G)
// Source: Vaswani et al. 2017, section 3.2.2; grouped queries: Ainslie et al. 2023, arXiv 2305.13245.
// Shapes: B batch, T queries, S keys, D model, H query heads, G key/value heads, d head size.
// Hook points: hook_q, hook_z (B, T, H, d), hook_k, hook_v (B, T, G, d), and with rotary positions
//              hook_rot_q, hook_rot_k; those of attention.h.
#pragma once

#include "clearformer/layers/attention.h"
#include "clearformer/layers/linear.h"
#include "clearformer/layers/rotary_embedding.h"

namespace clearformer {

struct AttentionConfig {
  std::size_t d_model = 0;
  std::size_t num_heads = 0;
  std::size_t num_key_value_heads = 0;
  std::size_t d_head = 0;
  Bias bias = Bias::none;
};

/// What self-attention is told about the sequence besides the activations.
struct AttentionState {
  const Mask& mask;
  const RotaryTable* rotary = nullptr;  // none: positions were added before
  KeyValueCache* cache = nullptr;       // none: the keys are those of this call alone
  std::size_t layer = 0;                // whose keys and values in the cache
};

class MultiHeadAttention {
 public:
  /// Loads "q_proj", "k_proj", "v_proj", "o_proj".
  MultiHeadAttention(const WeightScope& scope, const AttentionConfig& config);

  /// Self-attention: x (B, T, D) -> output (B, T, D).
  void forward(TensorView x, const AttentionState& state, MutableTensorView output,
               const Context& context) const;

 private:
  PackedKeyValues& store(const AttentionState& state, const PackedKeyValues::Sizes& sizes,
                         std::size_t length, PackedKeyValues& own, Arena& arena) const;

  AttentionConfig config_;
  Linear query_, key_, value_, output_;
};

}  // namespace clearformer
