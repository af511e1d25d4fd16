// Additive scoring function:  score(q, k) = w_v · tanh(W_q·q + W_k·k), for queries and keys of any two sizes
// Source: Bahdanau et al. 2014, arXiv 1409.0473.
// Shapes: q (…, d_q), k (…, d_k), W_q (h, d_q), W_k (h, d_k), w_v (1, h).
#pragma once

#include "clearformer/layers/linear.h"

namespace clearformer {

/// The parameters of additive scoring: projections of queries and keys to a common size, and the weight vector.
class AdditiveScore {
 public:
  AdditiveScore() = default;
  /// Loads "W_q", "W_k", "w_v".
  AdditiveScore(const WeightScope& scope, std::size_t query_size, std::size_t key_size,
                std::size_t hidden)
      : query_(scope / "W_q", query_size, hidden, Bias::none),
        key_(scope / "W_k", key_size, hidden, Bias::none),
        weights_((scope / "w_v").take("weight", {1, hidden})) {}

  std::size_t query_size() const { return query_.in_features(); }
  std::size_t key_size() const { return key_.in_features(); }
  std::size_t hidden() const { return query_.out_features(); }
  /// W_q·q (…, h): the queries for the attention core, with the kernel additive_scores and weights().
  void project_queries(const TensorView& queries, const MutableTensorView& out) const {
    query_.forward(queries, out);
  }
  void project_keys(const TensorView& keys, const MutableTensorView& out) const {
    key_.forward(keys, out);
  }
  const float* weights() const { return weights_.f32(); }
  /// w_v itself.
  const Tensor& weight() const { return weights_; }
  /// The gradients of what was projected, from those of the projections.
  void queries_back(const TensorView& queries, const TensorView& d, const MutableTensorView& dx,
                    const WeightGradients* weights, Arena& arena) const {
    query_.backward(queries, d, dx, Write::over, weights, arena);
  }
  void keys_back(const TensorView& keys, const TensorView& d, const MutableTensorView& dx,
                 const WeightGradients* weights, Arena& arena) const {
    key_.backward(keys, d, dx, Write::over, weights, arena);
  }

 private:
  Linear query_, key_;
  Tensor weights_;
};

}  // namespace clearformer
