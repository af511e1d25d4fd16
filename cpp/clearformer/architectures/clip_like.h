// Shared by CLIP and SigLIP: two stacks of the same kind and names, a config for each inside the whole.
#pragma once

#include "clearformer/architectures/vit_like.h"

namespace clearformer {

/// The config under `key`, or one of defaults alone, as `table` declares it.
ConfigReader read_clip_part(const ConfigReader& config, std::string_view key,
                            const KeyTable& table);
/// Reads the stack of one of the two configs: pre-norm, LayerNorm, biases.
TowerConfig read_clip_stack(const ConfigReader& config, ModelConfig& model);
/// The same with the text's embedding, whose positions are learned, and the special tokens.
TowerConfig read_clip_text(const ConfigReader& config, ModelConfig& model);
/// The same with the image's embedding, of patches alone.
TowerConfig read_clip_vision(const ConfigReader& config, ModelConfig& model);
/// A head that reads one state of a tower and projects it.
HeadConfig clip_pooler(const TowerConfig& tower, HeadConfig::Pick pick, std::size_t outputs,
                       Bias bias);
/// The names of both stacks, applied before an architecture's own.
inline constexpr std::string_view kClipStacks = R"(
*.blocks *.encoder.layers
attn.o_proj self_attn.out_proj
attn self_attn
ln1 layer_norm1
ln2 layer_norm2
up_proj fc1
down_proj fc2
text_model.embed text_model.embeddings.token_embedding
text_model.pos_embed text_model.embeddings.position_embedding
text_model.ln_final text_model.final_layer_norm
vision_model.patch_embed vision_model.embeddings.patch_embedding
vision_model.pos_embed vision_model.embeddings.position_embedding.weight
)";
inline constexpr KeyScheme kClipSchemes[] = {{"", kClipStacks}};
/// Tensors that older files hold and nobody reads.
inline constexpr std::string_view kClipIgnored = "*.embeddings.position_ids";

}  // namespace clearformer
