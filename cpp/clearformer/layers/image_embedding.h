// Image embedding: the input of a vision transformer's first block, and of one that reads spectrograms as images,
//   x = Norm([class; distillation; registers; patches] + E_position)
// where each part is optional; registers have no position. Or there are none at all: queries and keys of patch (i, j) of
// h·w are rotated (rotary_embedding.h), the first half of their pairs by the angles 2π·f·y, the second by 2π·f·x, with
//   y = (2i + 1)/h - 1, x = (2j + 1)/w - 1
// Source: Dosovitskiy et al. 2020, arXiv 2010.11929, section 3.1; distillation token: Touvron et al.
// 2020, arXiv 2012.12877; registers: Darcet et al. 2023, arXiv 2309.16588;
// rotary patches: Siméoni et al. 2025, arXiv 2508.10104.
// Shapes: images (B, C, H, W) or spectrograms (B, W, H), N patches, P tokens before them, x (B, P + N, D).
// Hook points: hook_embed (before positions), hook_pos_embed (1, P + N, D) unless they are rotary, hook_full_embed, embed.ln.…
#pragma once

#include <optional>

#include "clearformer/layers/normalization.h"
#include "clearformer/layers/patch_embedding.h"
#include "clearformer/layers/rotary_embedding.h"

namespace clearformer {

/// What happens to images of another size than the config's.
enum class OtherSizes {
  on_request,   // an error, unless the caller allows that positions are interpolated
  interpolate,  // they are always interpolated (DINOv2), or rotary (DINOv3)
  antialias,    // … with antialiasing (DINOv2 with registers)
};

/// The sizes and parts of an ImageEmbedding.
struct ImageEmbeddingConfig {
  PatchConfig patch = {};
  std::size_t image_height = 224;
  std::size_t image_width = 224;
  bool class_token = true;
  bool distillation_token = false;
  std::size_t registers = 0;
  std::optional<NormConfig> norm = {};  // CLIP's pre_layrnorm
  OtherSizes other_sizes = OtherSizes::on_request;
  std::size_t rotary_pairs =
      0;  // > 0: pairs of a head that turn by either coordinate of a patch, in place of positions
  double rotary_base = 0.0;

  /// Tokens before the patches that have a position.
  std::size_t placed() const { return std::size_t{class_token} + std::size_t{distillation_token}; }
  /// All tokens before the patches.
  std::size_t prefix() const { return placed() + registers; }
  Grid grid() const { return patch.cut(image_height, image_width); }
};

/// Embeds the patches of an image, with class token, distillation token and positions.
// Not inlined into what models of texts run (scripts/build/split.ts).
class ImageEmbedding {
 public:
  /// Loads "patch_embed", "cls_token", "distillation_token", "register_tokens", "pos_embed", "embed.ln".
  [[gnu::noinline]] ImageEmbedding(const WeightScope& scope, const ImageEmbeddingConfig& config);

  const ImageEmbeddingConfig& config() const { return config_; }
  /// A new one.
  [[gnu::noinline]] static std::shared_ptr<const ImageEmbedding> made(
      const WeightScope& scope, const ImageEmbeddingConfig& config);

  /// The shape of x for images (B, C, H, W). Throws shape_mismatch for a size other than the config's, unless
  /// `interpolate`.
  [[gnu::noinline]] Shape output_shape(const Shape& images, bool interpolate) const;
  /// x (B, P + N, D); for images of another size the position table is interpolated.
  [[gnu::noinline]] void forward(const TensorView& images, const MutableTensorView& x,
                                 const Context& context) const;
  /// From d (B, P + N, D), the gradient of x, which is overwritten: d_images (B, C, H, W), unless its data is null.
  void backward(const TensorView& images, const MutableTensorView& d,
                const MutableTensorView& d_images, const Context& context) const;
  /// The grid of patches of images (B, C, H, W), or if there are none that of the config. Throws shape_mismatch.
  [[gnu::noinline]] Grid grid(const TensorView* images) const;
  /// What rotates queries and keys of a pass with `length` positions, of which the last are the grid's patches.
  [[gnu::noinline]] RotaryTable turns(const Grid& grid, std::size_t length, Arena& arena) const;
  /// Offers the hook points of a pass, with x (1, 1, D) in place of the embeddings.
  [[gnu::noinline]] void probe(const MutableTensorView& x, const Context& context) const;

 private:
  // The grid of the position table, as seen by an image (…, H, W).
  Grid table_grid(const Shape& images) const;
  void add_positions(const MutableTensorView& x, const Shape& images, const Context& context) const;
  void positions_back(const TensorView& d, const Shape& images, const Context& context) const;

  ImageEmbeddingConfig config_;
  PatchEmbedding patches_;
  Tensor class_token_, distillation_token_;  // (1, D)
  Tensor register_tokens_;                   // (R, D)
  Tensor positions_;  // (1, P + N, D), without the registers; empty if rotary
  std::optional<Normalization> norm_;
};

}  // namespace clearformer
