// TransformerLens' names of weights, and its orientation: activations are rows, so that x·W is a projection. For every
// layer (of an encoder-decoder's stacks "encoder.0.attn.W_Q", of CLIP's "text_model.blocks.0.attn.W_Q"):
//   blocks.0.attn.W_Q, W_K, W_V  [head, d_model, d_head]  (grouped queries: one per key/value head)
//   blocks.0.attn.W_O            [head, d_head, d_model]
//   blocks.0.attn.b_Q, b_K, b_V  [head, d_head]   b_O [d_model]
//   blocks.0.mlp.W_in, W_gate    [d_model, d_mlp]   b_in [d_mlp]   W_out [d_mlp, d_model]   b_out [d_model]
//   blocks.0.ln1.w, .b           [d_model]   (as multiplied: with the 1 that Gemma adds)
//   embed.W_E [d_vocab, d_model] (scaled as the model scales it)   pos_embed.W_pos [position, d_model]
//   unembed.W_U [d_model, d_vocab] (also of a tied table)   unembed.b_U [d_vocab]
// and W_E, W_pos, W_U, b_U alone. Biases that a model does not have read as zeros, as there.
#pragma once

#include <string_view>

#include "clearformer/models/config.h"
#include "clearformer/models/parameters.h"

namespace clearformer {

/// The weight of that name; throws invalid_argument if the model has none.
ParameterView lens_weight(const ModelConfig& config, const Parameters& parameters,
                          std::string_view name);

}  // namespace clearformer
