// Attention pooling as a function of tensors, for any scoring function (scoring.h):
//   output = softmax(score(Q, K) + mask) · V
// Shapes: q (…, H, T, d_q), k (…, G, S, d_k), v (…, G, S, d_v) -> output (…, H, T, d_v); the axes
// before T and S may be absent and broadcast. Of three axes the first is a batch, with Groups::grouped the heads.
#pragma once

#include "clearformer/layers/attention.h"

namespace clearformer {

/// The options of attention_pooling().
struct PoolingOptions {
  Mask mask = {};
  Scoring score = {};
  float softcap = 0.0f;  // > 0: scores become softcap · tanh(score / softcap)
  EmptyRow empty_row = EmptyRow::zeros;

  enum class Groups { equal, grouped };
  Groups groups = Groups::equal;  // grouped: H may be a multiple of G (enable_gqa)

  /// Which (…, H, T, S) matrix to return with the output.
  enum class Keep { nothing, raw_scores, softcapped_scores, masked_scores, weights };
  Keep keep = Keep::nothing;
};

/// The result of attention_pooling().
struct Pooled {
  Tensor output;  // (…, H, T, d_v)
  Tensor kept;    // (…, H, T, S), or empty
};

/// Throws shape_mismatch, with the operation's name, the rule and the shapes, invalid_argument for a softcap that is
/// negative or not finite.
Pooled attention_pooling(const TensorView& queries, const TensorView& keys,
                         const TensorView& values, const PoolingOptions& options);

/// The gradients of the operands of attention_pooling(), of their shapes, and of those parameters of the scoring function
/// that are no plain numbers: M, W_q, W_k, w_v.
struct PoolingGradients {
  Tensor queries, keys, values;
  std::map<std::string, Tensor> parameters;
};

/// From d_output (…, H, T, d_v), the gradient of the output. Computes the output again; memory is linear in T and S.
/// Throws as attention_pooling(), and shape_mismatch for a d_output of another shape than the output.
PoolingGradients attention_pooling_backward(const TensorView& queries, const TensorView& keys,
                                            const TensorView& values, const PoolingOptions& options,
                                            const TensorView& d_output);

}  // namespace clearformer
