// Scaled dot-product attention:  Attention(Q, K, V) = softmax(Q·Kᵀ / √d + mask) · V
// Source: Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1.
// Shapes: B batch, T queries, S keys, H query heads, G key/value heads (H = g·G), d head size.
// Hook points: hook_attn_scores_raw (scaled, before the mask), hook_attn_scores (masked),
//              hook_pattern (after softmax), all (B, H, T, S).
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/key_value_cache.h"
#include "clearformer/layers/masking.h"

namespace clearformer {

/// queries (B, T, H, d), packed keys and values of B sequences and G heads -> output (B, T, H, d_v).
/// Query head h reads key/value head h / g. Works in blocks of queries: the scores of one block are
/// all that is ever in memory, unless the trace wants them. Both ways give the same bits.
void attention(TensorView queries, const PackedKeyValues& keys_values, const Mask& mask,
               float scale, MutableTensorView output, const Context& context);

}  // namespace clearformer
