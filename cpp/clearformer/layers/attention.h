// Scaled dot-product attention:  Attention(Q, K, V) = softmax(Q·Kᵀ / √d + mask) · V
// Source: Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1.
// Shapes: B batch, T queries, S keys, H query heads, G key/value heads (H = g·G), d head size.
// Hook points, all (B, H, T, S): hook_attn_scores_raw (scaled, before the mask),
//   hook_attn_scores_softcapped (where a softcap is set), hook_attn_scores (masked), hook_pattern.
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/key_value_cache.h"
#include "clearformer/layers/masking.h"
#include "clearformer/layers/scoring.h"

namespace clearformer {

/// The result for a query whose keys are all masked.
enum class EmptyRow {
  zeros,    // weights 0, output 0
  uniform,  // equal weights over all keys, as in d2l.ai
};

/// The options of attention(), over heads.
struct AttentionOptions {
  ScoreSpec score = {};
  float softcap = 0.0f;  // > 0: scores become softcap · tanh(score / softcap)
  EmptyRow empty_row = EmptyRow::zeros;
  std::size_t unmasked_keys = 0;  // the last keys, which no mask hides
  bool headless = false;          // of one head, whose axis is not shown: hook points are (B, T, S)
};

/// queries (B, T, H, d), packed keys and values of B sequences and G heads -> output (B, T, H, d_v).
/// Query head h reads key/value head h / g. Runs over blocks of queries and keys with an online softmax
/// (Dao et al. 2022, arXiv 2205.14135): only one block of scores is in memory, unless the trace reads them. Tracing
/// does not change the output; only queries whose scores or pattern the trace has edited are computed from these.
/// `softmax`, unless it is null, receives what attention_backward() needs: (B, H, T, 2), the highest score of each row,
/// before edits, and 1 / Σ exp(score - highest); zeros where all keys are masked.
void attention(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
               const AttentionOptions& options, const MutableHeads& output, const Context& context,
               float* softmax = nullptr);

/// Replaces a row of -inf throughout by zeros, which softmax makes uniform, and says whether it was one.
bool make_empty_row_uniform(float* scores, std::size_t keys);

/// Keys and values of one call, packed in the arena.
PackedKeyValues packed_in(Arena& arena, const Heads& keys, const Heads& values,
                          CacheFormat format = CacheFormat::f32);

}  // namespace clearformer
