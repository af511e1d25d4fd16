// Shared by CLIP and SigLIP: two stacks of the same kind.
#pragma once

#include "clearformer/architectures/vit_like.h"

namespace clearformer {

/// Reads the stack of one of the two configs: pre-norm, LayerNorm, biases.
TowerConfig read_clip_stack(const ConfigReader& config, ModelConfig& model);
/// Sets the text embedding, with learned positions.
void embed_clip_text(const ConfigReader& config, TowerConfig& tower);

}  // namespace clearformer
