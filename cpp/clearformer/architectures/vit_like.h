// Shared by the vision models: sizes of images, pre-norm encoders over patches; ViT's two schemes of tensor names.
#pragma once

#include "clearformer/architectures/values.h"

namespace clearformer {

/// Reads the whole model with the head of `task`; the classifier reads the class token.
ModelConfig read_vit_like(const ConfigReader& config, Task task);
/// The keys of ViT's config class, which are also DeiT's.
extern const KeyTable kVitKeys;
/// The tensor names of both: in all files, as transformers saves them now, and as it did before.
inline constexpr std::string_view kVitRules = R"(
patch_embed embeddings.patch_embeddings.projection
cls_token embeddings.cls_token
distillation_token embeddings.distillation_token
pos_embed embeddings.position_embeddings
ln1 layernorm_before
ln2 layernorm_after
ln_final layernorm
classifier.out /classifier
teacher_classifier.out /cls_classifier
distillation.out /distillation_classifier
)";
inline constexpr std::string_view kVitNow = R"(
blocks layers
attn attention
up_proj fc1
down_proj fc2
)";
inline constexpr std::string_view kVitBefore = R"(
blocks encoder.layer
attn.q_proj attention.attention.query
attn.k_proj attention.attention.key
attn.v_proj attention.attention.value
attn.o_proj attention.output.dense
mlp.up_proj intermediate.dense
mlp.down_proj output.dense
)";
inline constexpr KeyScheme kVitSchemes[] = {{"encoder.layer.", kVitBefore}, {"", kVitNow}};

/// Reads what ViT, DeiT, DINOv2 and DINOv3 have in common: all but the feed-forward network, max_positions and the head,
/// and biases of attention other than "qkv_bias". Throws unsupported for a task other than image-classification or base.
ModelConfig read_image_encoder(const ConfigReader& config, Task task);
/// Reads "image_size", "patch_size", "num_channels".
ImageEmbeddingConfig read_image(const ConfigReader& config, std::size_t d_model);
/// Reads "image_size" or "patch_size": one number, or [height, width].
std::pair<std::size_t, std::size_t> read_extent(const ConfigReader& config, std::string_view key);

}  // namespace clearformer
