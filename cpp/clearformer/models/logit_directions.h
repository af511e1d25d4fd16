// Logit directions: decomposes a logit into contributions to the residual stream.
//   logit_t = Σ_d u_t[d] · (x_d − mean(x)) / scale + b_t,   u_t = W_U[t] · w,   b_t = W_U[t]·β + b_U[t]
// with the final norm's weight w, bias β and scale (ln_final.hook_scale); RMSNorm does not subtract the mean. W_U is
// W_U·W_out if a projection precedes the output layer. As x is the sum of the outputs of embedding, heads and
// feed-forward layers, so is the logit; a head adds W_O·z_h. Source: Elhage et al. 2021, "A Mathematical Framework for
// Transformer Circuits". Shapes: N tokens, D model, H heads of size d.
#pragma once

#include "clearformer/layers/output_layer.h"
#include "clearformer/models/tower.h"

namespace clearformer {

/// For each token, the vector whose dot product with the residual stream is its logit.
struct Directions {
  Tensor vectors;  // (N, D), or (N, H, d) per head
  Tensor bias;     // (N), the contribution of the layers' biases
};

/// u and b of tokens (N) int32. Throws invalid_argument for a token outside the vocabulary,
/// unsupported if logits are softcapped or there is no final norm before the output layer.
Directions logit_directions(const Tower& tower, const OutputLayer& output,
                            const TensorView& tokens);

/// directions (N, D) projected to a layer's heads: attn_out·u = Σ_h z_h·vectors[h] + bias. Throws
/// invalid_argument for a layer that does not exist, unsupported if attn_out is normalized before it
/// is added, shape_mismatch for directions of another size.
Directions head_directions(const Tower& tower, std::size_t layer, KeyRole keys,
                           const TensorView& directions);

}  // namespace clearformer
