#include "clearformer/layers/image_embedding.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

namespace {
constexpr std::string_view kImageLegend = "batch pos d_model";
}

ImageEmbedding::ImageEmbedding(const WeightScope& scope, const ImageEmbeddingConfig& config)
    : config_(config), patches_(scope / "patch_embed", config.patch) {
  const std::size_t width = config.patch.d_model;
  const Tensor class_token = scope.take_flat("cls_token", {1, width});
  tokens_ = Tensor({config.prefix(), width});
  if (!class_token.empty()) std::memcpy(tokens_.data(), class_token.data(), width * sizeof(float));
  if (config.distillation_token) {
    const Tensor token = scope.take_flat("distillation_token", {1, width});
    if (!token.empty()) std::memcpy(tokens_.f32() + width, token.data(), width * sizeof(float));
  }
  const std::size_t rows = config.prefix() + config.grid().patches();
  positions_ = scope.take_flat("pos_embed", {1, rows, width});
  if (config.norm) norm_.emplace(scope / "embed.ln", *config.norm);
}

Shape ImageEmbedding::output_shape(const Shape& images, bool interpolate) const {
  const Grid grid = patches_.grid(images);
  if (!interpolate && (images[2] != config_.image_height || images[3] != config_.image_width)) {
    fail(ErrorCode::shape_mismatch, "pixel_values: images of ", images[2], " x ", images[3],
         " pixels, the model was made for ", config_.image_height, " x ", config_.image_width,
         " (interpolate_pos_encoding: true stretches its positions)");
  }
  return {images[0], config_.prefix() + grid.patches(), config_.patch.d_model};
}

void ImageEmbedding::forward(const TensorView& images, const MutableTensorView& x,
                             const Context& context) const {
  Arena::Frame frame(context.arena);
  const Grid grid = patches_.grid(images.shape());
  const MutableTensorView patches =
      context.arena.take({images.dim(0), grid.patches(), config_.patch.d_model});
  patches_.forward(images, patches, context.arena);
  prepend_tokens(tokens_, patches, x);
  context.trace("hook_embed", x, kImageLegend);
  const MutableTensorView positions = context.arena.take({1, x.dim(1), x.dim(2)});
  const Tensor table = interpolate_positions(positions_, config_.grid(), grid);
  std::memcpy(positions.data(), table.data(), positions.bytes());
  context.trace("hook_pos_embed", positions, "1 pos d_model");
  for (std::size_t image = 0; image < x.dim(0); ++image) {
    float* row = x.f32() + image * positions.elements();
    kernels::add(row, positions.f32(), row, positions.elements());
  }
  if (norm_) norm_->forward(x, x, context / "embed.ln");
  context.trace("hook_full_embed", x, kImageLegend);
}

void ImageEmbedding::probe(const MutableTensorView& x, const Context& context) const {
  context.trace("hook_embed", x, kImageLegend);
  context.trace("hook_pos_embed", x, "1 pos d_model");
  if (norm_) norm_->forward(x, x, context / "embed.ln");
  context.trace("hook_full_embed", x, kImageLegend);
}

}  // namespace clearformer
