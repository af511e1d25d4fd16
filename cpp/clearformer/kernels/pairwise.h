// Scoring functions that are not dot products, of every query with every key; keys are packed as for matmul.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// queries: (M, K), rows `query_stride` floats apart. keys: (N, K) in panels of panel_width() keys,
/// element (key j of the panel, k) at k * W + j, panels `panel_stride` floats apart.
/// scores: (M, N), rows `score_stride` floats apart.
struct PairwiseArgs {
  const float* queries = nullptr;
  std::size_t query_stride = 0;
  const float* keys = nullptr;
  std::size_t panel_stride = 0;
  float* scores = nullptr;
  std::size_t score_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
  const float* weights = nullptr;  // (K), for the kernels that take some
};

/// A kernel of this file.
using PairwiseKernel = void (*)(const PairwiseArgs& args);

/// scores(m, n) = Σ_k weights[k] · tanh(query(m, k) + key(n, k))
CLEARFORMER_KERNEL(void, additive_scores, const PairwiseArgs& args)
/// scores(m, n) = Σ_k (query(m, k) - key(n, k))²
CLEARFORMER_KERNEL(void, squared_distances, const PairwiseArgs& args)

}  // namespace clearformer::kernels
