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
std::span<const KeyScheme> clip_schemes();
/// Tensors that older files hold and nobody reads.
std::span<const std::string_view> clip_ignored();

}  // namespace clearformer
