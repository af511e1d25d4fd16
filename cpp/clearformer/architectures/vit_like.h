// Shared by ViT and DeiT: pre-norm encoder over patches, two schemes of tensor names.
#pragma once

#include "clearformer/architectures/values.h"

namespace clearformer {

/// Reads the whole model with the head of `task`; the classifier reads the class token.
ModelConfig read_vit_like(const ConfigReader& config, Task task);
/// The keys of ViT's config class, which are also DeiT's.
extern const KeyTable kVitKeys;
std::span<const NameRule> vit_rules();
std::span<const KeyScheme> vit_schemes();

/// Reads "image_size" or "patch_size": one number, or [height, width].
std::pair<std::size_t, std::size_t> read_extent(const ConfigReader& config, std::string_view key);

}  // namespace clearformer
