// Shared by the vision models: sizes of images, pre-norm encoders over patches; ViT's two schemes of tensor names.
#pragma once

#include "clearformer/architectures/values.h"

namespace clearformer {

/// Reads the whole model with the head of `task`; the classifier reads the class token.
ModelConfig read_vit_like(const ConfigReader& config, Task task);
/// The keys of ViT's config class, which are also DeiT's.
extern const KeyTable kVitKeys;
std::span<const NameRule> vit_rules();
std::span<const KeyScheme> vit_schemes();

/// Reads what ViT, DeiT and DINOv2 have in common: all but the feed-forward network, max_positions and the head. Throws
/// unsupported for a task other than image-classification or base.
ModelConfig read_image_encoder(const ConfigReader& config, Task task);
/// Reads "image_size", "patch_size", "num_channels".
ImageEmbeddingConfig read_image(const ConfigReader& config, std::size_t d_model);
/// Reads "image_size" or "patch_size": one number, or [height, width].
std::pair<std::size_t, std::size_t> read_extent(const ConfigReader& config, std::string_view key);

}  // namespace clearformer
