// Attention pooling as one function of tensors, for any score:
//   output = softmax(score(Q, K) + mask) · V
//   dot: q·k   scaled dot: q·k / √d   general: qᵀ·M·k   additive: w_v·tanh(W_q·q + W_k·k)
//   distance: -|q - k|² / (2σ²), a Gaussian kernel
// Sources: Vaswani et al. 2017; Luong et al. 2015, arXiv 1508.04025; Bahdanau et al. 2014;
// Nadaraya 1964, Watson 1964.
// Shapes: q (…, H, T, d_q), k (…, G, S, d_k), v (…, G, S, d_v) -> output (…, H, T, d_v); the axes
// before T and S may be absent and broadcast.
#pragma once

#include <optional>

#include "clearformer/layers/additive_attention.h"
#include "clearformer/layers/attention.h"

namespace clearformer {

struct PoolingOptions {
  Mask mask;
  std::optional<float> scale;  // none: 1 / √d for dot and general scores, 1 for additive ones
  float softcap = 0.0f;        // > 0: scores become softcap · tanh(score / softcap)
  EmptyRow empty_row = EmptyRow::zeros;

  enum class Groups { equal, grouped };
  Groups groups = Groups::equal;  // grouped: H may be a multiple of G (enable_gqa)

  /// Which (…, H, T, S) matrix to give back beside the output.
  enum class Keep { nothing, raw_scores, softcapped_scores, masked_scores, weights };
  Keep keep = Keep::nothing;

  const AdditiveScore* additive = nullptr;  // additive scores
  const Tensor* general = nullptr;          // M (d_q, d_k): general scores
  std::optional<float> sigma;               // σ > 0: distance scores
};

struct Pooled {
  Tensor output;  // (…, H, T, d_v)
  Tensor kept;    // (…, H, T, S), or empty
};

/// Throws shape_mismatch with the operation's name, the rule and the shapes.
Pooled attention_pooling(TensorView queries, TensorView keys, TensorView values,
                         const PoolingOptions& options);

}  // namespace clearformer
