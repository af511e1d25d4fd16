// Scoring functions of attention pooling, by name and with their parameters:
//   dot: s·q·k   scaled_dot: q·k / √d, or s·q·k   general: s·qᵀ·M·k
//   additive: s·w_v·tanh(W_q·q + W_k·k)   distance: -|q - k|² / (2σ²), a Gaussian kernel
// Sources: Vaswani et al. 2017; Luong et al. 2015, arXiv 1508.04025; Bahdanau et al. 2014, arXiv 1409.0473;
// Nadaraya 1964, Watson 1964.
// Shapes: q (B, H, T, d_q), k (B, G, S, d_k), M (d_q, d_k), W_q (h, d_q), W_k (h, d_k), w_v (h) or (1, h);
// scale s (1 where none is given) and sigma σ (1) are scalars.
// A new one is a row of the table in scoring.cpp and, where it is no dot product of projections, a kernel.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "clearformer/kernels/pairwise.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// How attention compares a query and a key, all of it: score = scale · pairwise(q, k).
struct ScoreSpec {
  kernels::PairwiseKernel pairwise = nullptr;  // null: the dot product
  const float* weights = nullptr;              // (d), where that kernel takes some
  float scale = 1.0f;
};

/// A scoring function as a caller asks for it.
struct Scoring {
  std::string name = "scaled_dot";
  std::map<std::string, Tensor> parameters = {};

  Scoring& set(std::string parameter, Tensor value);
  Scoring& set(std::string parameter, float value);
};

/// What attention is given for a Scoring.
struct PreparedScoring {
  std::optional<Tensor> queries,
      keys;        // in place of the caller's; none: those are compared themselves
  Tensor weights;  // what spec.weights points to
  ScoreSpec spec;
};

/// Throws unsupported for an unknown name, invalid_argument for a parameter that is missing or not the
/// function's, shape_mismatch by the shapes.
PreparedScoring prepare(const Scoring& scoring, const TensorView& queries, const TensorView& keys);

}  // namespace clearformer
