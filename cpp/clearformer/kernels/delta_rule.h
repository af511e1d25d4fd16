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

/// One position of a head, whose numbers have the gradients beside them.
struct DeltaGradient {
  const float *q, *k;  // (keys)
  const float* v;      // (values)
  float decay, beta;
  const float* state;  // S before the position, (keys, values)
  const float* d_out;  // (values)
  float* d_state;      // (keys, values): of S after the position, which becomes that of S before it
  float *dq, *dk;      // (keys)
  float* dv;           // (values)
  float *d_decay, *d_beta;
  float* change;  // room for (values)
  std::size_t keys, values;
};

/// The gradients of a position of delta_rule(). With r = decay·Sᵀk, c = β·(v − r), and dS including q ⊗ d_out:
///   dc = dSᵀk, dv = β·dc, dβ = dc·(v − r);   dq = S_t·d_out, dk = dS·c − decay·S·dv;
///   dS ← dS − k ⊗ dv, d_decay = Σ dS ⊙ S, dS ← decay·dS
CLEARFORMER_KERNEL(void, delta_rule_backward, const DeltaGradient& of)

}  // namespace clearformer::kernels
