// Logit directions: a logit as a sum over what was added to the residual stream.
//   logit_t = Σ_d u_t[d] · (x_d − mean(x)) / scale + b_t,   u_t = W_U[t] · w,   b_t = W_U[t]·β + b_U[t]
// with the final norm's weight w, bias β and scale (ln_final.hook_scale); RMSNorm takes off no mean. As x
// is a sum of what embedding, heads and feed-forward layers added, so is the logit; a head adds W_O·z_h.
// Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
// Shapes: N tokens, D model, H heads of size d.
#pragma once

#include "clearformer/layers/output_layer.h"
#include "clearformer/models/tower.h"

namespace clearformer {

/// For each token the vector whose product with the residual stream is its logit.
struct Directions {
  Tensor vectors;  // (N, D), or (N, H, d) of heads
  Tensor bias;     // (N), what the layers' biases add
};

/// u and b of tokens (N) int32. Throws invalid_argument for a token outside the vocabulary,
/// unsupported where the logits are capped or no final norm comes before the output layer.
Directions logit_directions(const Tower& tower, const OutputLayer& output,
                            const TensorView& tokens);

/// directions (N, D) as the heads of a layer see them: attn_out·u = Σ_h z_h·vectors[h] + bias. Throws
/// invalid_argument for a layer that is not there, unsupported where attn_out is normalized before it
/// is added, shape_mismatch for directions of another size.
Directions head_directions(const Tower& tower, std::size_t layer, KeyRole keys,
                           const TensorView& directions);

}  // namespace clearformer
