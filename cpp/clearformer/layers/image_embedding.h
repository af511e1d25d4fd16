// Image embedding: what enters the first block of a vision transformer,
//   x = Norm([class; distillation; patches] + E_position)
// each part as far as the model has it.
// Source: Dosovitskiy et al. 2020, arXiv 2010.11929, section 3.1; distillation token: Touvron et al.
// 2020, arXiv 2012.12877.
// Shapes: images (B, C, H, W), N patches, P tokens in front of them, x (B, P + N, D).
// Hook points: hook_embed (before positions), hook_pos_embed (1, P + N, D), hook_full_embed, embed.ln.…
#pragma once

#include <optional>

#include "clearformer/layers/normalization.h"
#include "clearformer/layers/patch_embedding.h"

namespace clearformer {

/// The sizes and parts of an ImageEmbedding.
struct ImageEmbeddingConfig {
  PatchConfig patch;
  std::size_t image_height = 224;
  std::size_t image_width = 224;
  bool distillation_token = false;
  std::optional<NormConfig> norm;  // CLIP's pre_layrnorm

  std::size_t prefix() const { return distillation_token ? 2 : 1; }
  Grid grid() const { return {image_height / patch.patch_height, image_width / patch.patch_width}; }
};

/// Patches of an image to vectors: class token, distillation token, positions.
class ImageEmbedding {
 public:
  /// Loads "patch_embed", "cls_token", "distillation_token", "pos_embed", "embed.ln".
  ImageEmbedding(const WeightScope& scope, const ImageEmbeddingConfig& config);

  const ImageEmbeddingConfig& config() const { return config_; }
  /// The shape of x for images (B, C, H, W). Throws shape_mismatch for another size than the model
  /// was made for, unless `interpolate`.
  Shape output_shape(const Shape& images, bool interpolate) const;
  /// x (B, P + N, D); the position table is stretched to images of another size.
  void forward(const TensorView& images, const MutableTensorView& x, const Context& context) const;
  /// Offers the hook points of a pass with x (1, 1, D) in place of an image's embeddings.
  void probe(const MutableTensorView& x, const Context& context) const;

 private:
  ImageEmbeddingConfig config_;
  PatchEmbedding patches_;
  Tensor tokens_;     // (P, D)
  Tensor positions_;  // (1, P + N, D)
  std::optional<Normalization> norm_;
};

}  // namespace clearformer
