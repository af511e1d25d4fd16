// Separate heads: what each head of an attention layer reads and what it adds, as values of their own. The layer does
// without them (it projects all heads at once), so they are computed only for a trace that names them:
//   q_h = W_Q,h·Norm(q_input_h) + b_h,  likewise k and v;    output = Σ_h result_h + b,  result_h = W_O,h·z_h
// where W_O, like all W, has the low-rank updates in force.
// Shapes: B batch, T positions, H heads, G key/value heads, d head size, x (B, T, D) the residual stream.
// Hook points, on request: hook_q_input (B, T, H, D), hook_k_input, hook_v_input (B, T, G, D), copies of the residual
//                          stream before the norm; attn.hook_result (B, T, H, D).
#pragma once

#include "clearformer/layers/linear.h"
#include "clearformer/layers/normalization.h"

namespace clearformer {

/// The inputs of the heads' projections that take the place of the common one; no data: not edited.
struct HeadInputs {
  TensorView queries;       // (B, T, H, D)
  TensorView keys, values;  // (B, T, G, D)
};

/// The numbers of heads that read queries, and keys and values.
struct HeadCounts {
  std::size_t queries = 0, keys = 0;
};

/// Offers a copy of x for each head at hook_q_input, hook_k_input and hook_v_input, if the trace wants it; those that it
/// edits are returned, normalized. norm: null if nothing normalizes the common input. Throws unsupported if the trace
/// edits the norm's hooks, too, which are those of the common input.
HeadInputs offer_head_inputs(const TensorView& x, const HeadCounts& heads,
                             const Normalization* norm, const Context& context);

/// Throws unsupported if the trace edits the hooks of ln1, which the input at `hook` does not pass.
void refuse_norm_edits(std::string_view hook, const Context& context);

/// Each head's part of x·Wᵀ + b from that head's x: own (B, T, H, D) -> y (B, T, H, d).
void project_heads(const Linear& layer, const TensorView& own, const MutableTensorView& y,
                   Arena& arena);

/// Offers what each head of z (B, T, H, d) adds to the output at hook_result. If the trace edits it, stores the sum with
/// the bias in output (B, T, D), or adds it, and returns true.
bool offer_head_results(const Linear& layer, const TensorView& z, const MutableTensorView& output,
                        Write write, const Context& context);

// Backward. Where a reader has an input of its own, because an edit may have changed it, nothing of its gradient reaches
// the common one: dW_h = dq_hᵀ·Norm(q_input_h), and through the norm it is added to that of the stream. Elsewhere the
// gradient of the common input has it already, and the stream's gets only what the metric or a function adds there.

/// Whose inputs these are: the block, and the gradient of its stream (B, T, D), to which theirs are added.
struct InputReaders {
  const Normalization* norm;  // of the common input, or null
  Context context;            // the block's
  MutableTensorView stream;
};

/// Where the forward pass kept what a reader read of its own, before the norm: for copies that the trace edits.
void keep_own_input(std::string_view hook, const TensorView& own, const Context& context);
/// Whether it kept one.
bool read_own_input(std::string_view hook, const Context& context);

/// Offers the gradient d of inputs at `hook`, in order (B, T, 1 or heads, D), and adds to the stream's what belongs there.
void own_input_back(std::string_view hook, std::string_view legend, const MutableTensorView& d,
                    const InputReaders& readers);

/// Offers the gradient at one of the hook points of offer_head_inputs(), if it is sought: from d (B, T, H, d), that of the
/// projections by `layer`. Returns whether the forward pass read these inputs; then the layer's weights have theirs, too.
bool head_inputs_back(std::string_view hook, const Linear& layer, const TensorView& d,
                      const InputReaders& readers);

/// Offers the gradient at hook_result, if it is sought: that of the output d (B, T, D), for each head. If it may be
/// changed there, stores the gradient of z (B, T, H, d) in dz, adds that of the layer's weights, and returns true.
bool head_results_back(const Linear& layer, const TensorView& z, const TensorView& d,
                       const MutableTensorView& dz, const Context& context);

}  // namespace clearformer
