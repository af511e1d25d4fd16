// The backward pass of scaled dot-product attention, in blocks (Dao et al. 2022, arXiv 2205.14135, algorithm 4):
//   P = exp(s - highest) / total, from the saved maxima and sums;   δ = Σ dO·O
//   dV = Pᵀ·dO;   dP = dO·Vᵀ;   dS = P ⊙ (dP - δ);   d bias = dS
//   ds = dS · (1 - (capped / softcap)²) · scale;   dQ = ds·K;   dK = dsᵀ·Q
// A row with nothing to attend to has P = 0, or dV += dO / S where its weights are uniform.
// Shapes: as in attention.h.
#pragma once

#include "clearformer/layers/attention.h"

namespace clearformer {

/// The operands of attention(), and what it computed.
struct AttentionKept {
  Heads queries;         // (B, T, H, d)
  Heads keys, values;    // (B, S, G, d), (B, S, G, d_v), in float32, with the extra keys
  Heads output;          // (B, T, H, d_v), before edits
  const float* softmax;  // (B, H, T, 2)
};

/// Where the gradients of attention's operands go; null data: not wanted. Those of queries, keys and values are
/// overwritten, the others added to.
struct AttentionGradients {
  MutableHeads queries = {}, keys = {}, values = {};  // as the operands
  MutableTensorView bias = {};  // (B, H, T, S) or, summed over the batch, (1, H, T, S)
  float* weights = nullptr;     // (d): of ScoreSpec::weights
};

/// From d_output (B, T, H, d_v). Runs in blocks, one task a head; threads have the same bits. Of the bias only keys that
/// a mask may hide are counted: S without AttentionOptions::unmasked_keys.
void attention_backward(const AttentionKept& kept, const Mask& mask,
                        const AttentionOptions& options, const Heads& d_output,
                        const AttentionGradients& gradients, Arena& arena);

}  // namespace clearformer
