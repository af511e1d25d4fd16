// Scoring functions of attention, by name and with their parameters:
//   dot: s·q·k   scaled_dot: q·k / √d, or s·q·k   general: s·qᵀ·M·k
//   additive: s·w_v·tanh(W_q·q + W_k·k)   distance: -|q - k|² / (2σ²), a Gaussian kernel
// Sources: Vaswani et al. 2017; Luong et al. 2015, arXiv 1508.04025; Bahdanau et al. 2014, arXiv 1409.0473;
// Nadaraya 1964, Watson 1964.
// Shapes: q (B, H, T, d_q), k (B, G, S, d_k), M (d_q, d_k), W_q (h, d_q), W_k (h, d_k), w_v (h) or (1, h);
// scale s (1 where none is given) and sigma σ (1) are scalars.
// To add one: a row of the table in scoring.cpp and, unless it is a dot product of projections, a kernel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "clearformer/kernels/pairwise.h"
#include "clearformer/tensor/arena.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// How attention scores a query and a key: score = scale · pairwise(q, k).
struct ScoreSpec {
  kernels::PairwiseKernel pairwise = nullptr;  // null: the dot product
  const float* weights = nullptr;              // (d), for kernels that use them
  float scale = 1.0f;
};

/// A scoring function as requested by a caller.
struct Scoring {
  std::string name = "scaled_dot";
  std::map<std::string, Tensor> parameters = {};

  Scoring& set(std::string parameter, Tensor value) &;
  Scoring& set(std::string parameter, float value) &;
  // Of a temporary one, which can be moved from.
  Scoring&& set(std::string parameter, Tensor value) && {
    return std::move(set(std::move(parameter), std::move(value)));
  }
  Scoring&& set(std::string parameter, float value) && {
    return std::move(set(std::move(parameter), value));
  }
};

/// A Scoring prepared for attention.
struct PreparedScoring {
  std::optional<Tensor> queries,
      keys;        // replace the caller's; none: those are used directly
  Tensor weights;  // storage for spec.weights
  ScoreSpec spec;
};

/// Throws unsupported for an unknown name, invalid_argument for a parameter that is missing or does not belong to
/// the function, shape_mismatch for shapes that do not fit.
PreparedScoring prepare(const Scoring& scoring, const TensorView& queries, const TensorView& keys);

/// The gradients of prepared queries, keys and weights, which prepared_back() replaces by those of what they were
/// prepared from.
struct ScoringGradients {
  Tensor queries, keys, weights;
  std::map<std::string, Tensor> parameters = {};
};

/// The gradients of the queries and keys given to prepare(), and of the scoring function's tensors.
void prepared_back(const Scoring& scoring, const TensorView& queries, const TensorView& keys,
                   ScoringGradients& gradients, Arena& arena);

}  // namespace clearformer
