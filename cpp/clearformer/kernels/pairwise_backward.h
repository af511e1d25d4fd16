// The backward pass of the scoring functions that are not dot products (pairwise.h), for one query and one key.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// A query and a key (count), and the sums of their gradients, which are added to.
struct PairGradient {
  const float* query = nullptr;
  const float* key = nullptr;
  const float* weights = nullptr;  // for additive scores
  float dscore = 0.0f;
  float* dquery = nullptr;
  float* dkey = nullptr;
  float* dweights = nullptr;  // of additive scores
  std::size_t count = 0;
};

/// Of w·tanh(q + k): with t = tanh(q + k), dq += ds·w·(1 - t²), dk likewise, dw += ds·t.
CLEARFORMER_KERNEL(void, additive_score_gradient, const PairGradient& pair)
/// Of |q - k|²: dq += 2·ds·(q - k), dk -= the same.
CLEARFORMER_KERNEL(void, squared_distance_gradient, const PairGradient& pair)

}  // namespace clearformer::kernels
