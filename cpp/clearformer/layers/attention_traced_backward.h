// The backward pass of attention whose scores or pattern the gradient or the trace reads or changes: with the whole
// matrices (B, H, T, S), which the forward pass kept. Without that, attention_backward.h computes it in blocks.
//   dP' = dO·Vᵀ, dV = P'ᵀ·dO, [hook_pattern] dS = P⊙(dP - Σ P⊙dP), [hook_attn_scores] hidden ones: 0,
//   [hook_attn_scores_softcapped] dS ⊙ (1 - (c/cap)²), [hook_attn_scores_raw] dS·scale, dQ = dS·K, dK = dSᵀ·Q
// P' and P: the pattern after and before its edits; c: the softcapped scores before theirs.
#pragma once

#include "clearformer/layers/attention_backward.h"

namespace clearformer {

/// Offers the gradients of scores and pattern if they are sought. If they may have been changed, it also computes what
/// attention_backward() does, from them, and returns true; else false: nothing is written, since reading them changes
/// no bit of the others.
bool traced_attention_backward(const AttentionKept& kept, const Mask& mask,
                               const AttentionOptions& options, const Heads& d_output,
                               const AttentionGradients& gradients, const Context& context);

}  // namespace clearformer
