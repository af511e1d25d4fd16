// The gated delta rule, position by position.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// Columns of one head's matrix S (keys, values), and where what its positions read and write lies.
struct DeltaHead {
  const float *q, *k;         // (keys) of the first position
  const float* v;             // (columns)
  const float *decay, *beta;  // one number a position
  float* state;               // the columns' first row; the next is `values` further
  float* out;                 // (columns)
  std::size_t keys, values, columns;
  // From one position to the next: of q and k, of v and out, of decay and beta.
  std::size_t key_step, value_step, number_step;
};

/// At each position in turn S = decay·S, S += k ⊗ β·(v − Sᵀk), out = Sᵀq. Sums are in the order of the rows, so that
/// neither the number of columns nor that of positions changes a bit; products are rounded before they are added on every
/// target, so that the builds of the WASM share the kernel, which is in a part of theirs.
CLEARFORMER_KERNEL(void, delta_rule, const DeltaHead& head, std::size_t positions)

}  // namespace clearformer::kernels
