// Image embedding: the input of a vision transformer's first block,
//   x = Norm([class; distillation; patches] + E_position)
// where each part is optional.
// Source: Dosovitskiy et al. 2020, arXiv 2010.11929, section 3.1; distillation token: Touvron et al.
// 2020, arXiv 2012.12877.
// Shapes: images (B, C, H, W), N patches, P tokens before them, x (B, P + N, D).
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

/// Embeds the patches of an image, with class token, distillation token and positions.
class ImageEmbedding {
 public:
  /// Loads "patch_embed", "cls_token", "distillation_token", "pos_embed", "embed.ln".
  ImageEmbedding(const WeightScope& scope, const ImageEmbeddingConfig& config);

  const ImageEmbeddingConfig& config() const { return config_; }
  /// The shape of x for images (B, C, H, W). Throws shape_mismatch for a size other than the config's, unless
  /// `interpolate`.
  Shape output_shape(const Shape& images, bool interpolate) const;
  /// x (B, P + N, D); for images of another size the position table is interpolated.
  void forward(const TensorView& images, const MutableTensorView& x, const Context& context) const;
  /// Offers the hook points of a pass, with x (1, 1, D) in place of the embeddings.
  void probe(const MutableTensorView& x, const Context& context) const;

 private:
  ImageEmbeddingConfig config_;
  PatchEmbedding patches_;
  Tensor tokens_;     // (P, D)
  Tensor positions_;  // (1, P + N, D)
  std::optional<Normalization> norm_;
};

}  // namespace clearformer
