// Disentangled attention: besides content with content, scores compare content with relative positions,
//   score(t, s) = (q_t·k_s + q_t·K_δ + k_s·Q_δ) / √(n·d),  δ = span + bucket(t - s), from 0 to 2·span - 1
//   K = R·W_K + b_K, Q = R·W_Q + b_Q: keys and queries of the relative positions R; n terms of the three are present
//   bucket(x) = x for |x| ≤ m = buckets / 2, else sign(x)·(m + ⌈(m - 1)·ln(|x| / m) / ln((M - 1) / m)⌉),
//   with M = max_distance; without buckets x itself
// Source: He et al. 2020, arXiv 2006.03654, section 3.1; buckets: He et al. 2021, arXiv 2111.09543.
// Shapes: R (2·span, D), optionally normalized; B batch, T positions, H heads, d head size, P rows of R in use.
// Hook points: hook_attn_scores_c2p, hook_attn_scores_p2c (B, H, T, T): the second and third term, scaled, which are
//              added to hook_attn_scores_raw, the first.
#pragma once

#include <optional>

#include "clearformer/layers/context.h"
#include "clearformer/layers/heads.h"
#include "clearformer/layers/linear.h"
#include "clearformer/layers/masking.h"
#include "clearformer/layers/normalization.h"

namespace clearformer {

/// The table R and its buckets, common to all layers.
struct RelativeTableConfig {
  std::size_t d_model = 0;
  std::size_t span = 0;          // rows per direction
  std::size_t buckets = 0;       // 0: none, one row per distance up to span
  std::size_t max_distance = 0;  // with buckets: M
  std::optional<NormConfig> norm = {};
};

/// δ for each relative position -(T - 1) … T - 1, query minus key: (2·T - 1) of int32. Throws invalid_argument for a
/// distance that has no bucket.
Tensor relative_rows(const RelativeTableConfig& config, std::size_t length);

/// The part of R that a pass of one length reads.
struct RelativePositions {
  TensorView rows;                    // (P, D)
  const std::int32_t* row = nullptr;  // row[T - 1 + t - s] of it is that of query t and key s
};

/// The table R.
class RelativeTable {
 public:
  /// Loads "weight" and, with a norm, "norm".
  RelativeTable(const WeightScope& scope, const RelativeTableConfig& config);

  /// What a pass over `length` positions reads, in the arena.
  RelativePositions positions(std::size_t length, Arena& arena) const;
  /// From d_rows (P, D), the gradient of the rows that positions(length) gave, which is overwritten, adds that of the
  /// table and its norm.
  void backward(std::size_t length, const MutableTensorView& d_rows, const WeightGradients* weights,
                Arena& arena) const;

 private:
  // The rows in use: the first, and for each relative position its row, counted from there.
  struct Selected {
    std::size_t first, count;
    Tensor row;
  };
  Selected selected(std::size_t length) const;

  RelativeTableConfig config_;
  Tensor table_;
  std::optional<Normalization> norm_;
};

/// The parts of disentangled attention in a layer.
struct DisentangledConfig {
  bool content_to_position = false;
  bool position_to_content = false;
  bool shares_projections = false;  // W_K and W_Q are those of the contents
};

/// The terms of a layer that read positions.
// Not inlined into what models without them run (scripts/build/split.ts).
class DisentangledScores {
 public:
  /// Loads "pos_k_proj" and "pos_q_proj", (H·d, D), unless the projections are shared.
  [[gnu::noinline]] DisentangledScores(const WeightScope& scope, const DisentangledConfig& config,
                                       std::size_t d_model, std::size_t width);

  /// What attention of one sequence length is computed from. Queries and keys (B, T, H, d); their projections are used
  /// for the positions if they are shared.
  struct Inputs {
    Heads queries, keys;
    const Linear& query_projection;
    const Linear& key_projection;
    const RelativePositions& positions;
    float scale = 1.0f;  // 1 / √(n·d)
  };
  /// The terms as additive masks.
  [[gnu::noinline]] Mask biases(const Inputs& inputs, const Context& context) const;

  /// The same in the backward pass of a differentiated pass, after edits.
  static Mask kept_biases(const TraceScope& trace);

  /// Sums of gradients, which are added to.
  struct Gradients {
    MutableHeads queries, keys;  // (B, T, H, d)
    MutableTensorView rows;      // (P, D) of RelativePositions; null data: not wanted
  };
  /// From d_scores (B, H, T, T), the gradient of what biases() adds:
  ///   dq_t = scale·Σ_s d(t, s)·K_δ, dK_δ = scale·Σ_{t, s of that δ} d(t, s)·q_t; likewise for keys and Q_δ.
  void backward(const Inputs& inputs, const TensorView& d_scores, const Gradients& gradients,
                const Context& context) const;

 private:
  template <class Visit>
  void for_each_term(const Inputs& inputs, const Visit& visit) const;

  DisentangledConfig config_;
  Linear key_, query_;
};

}  // namespace clearformer
