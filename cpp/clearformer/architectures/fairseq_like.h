// Shared by decoders that were trained with fairseq: OPT, XGLM, BioGPT.
#pragma once

#include "clearformer/architectures/architecture.h"

namespace clearformer {

/// The names of their tensors but for the final norm and the output layer.
inline constexpr KeyScheme kFairseqNames[] = {{"", R"(
embed.proj project_in
embed embed_tokens
pos_embed embed_positions
blocks layers
ln1 self_attn_layer_norm
attn self_attn
o_proj out_proj
ln2 final_layer_norm
mlp.up_proj fc1
mlp.down_proj fc2
)"}};

}  // namespace clearformer
