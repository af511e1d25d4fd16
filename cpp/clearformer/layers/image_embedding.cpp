#include "clearformer/layers/image_embedding.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {
constexpr std::string_view kImageLegend = "batch pos d_model";
}

ImageEmbedding::ImageEmbedding(const WeightScope& scope, const ImageEmbeddingConfig& config)
    : config_(config), patches_(scope / "patch_embed", config.patch) {
  const std::size_t width = config.patch.d_model;
  if (config.class_token) class_token_ = scope.take_flat("cls_token", {1, width});
  if (config.distillation_token) {
    distillation_token_ = scope.take_flat("distillation_token", {1, width});
  }
  if (config.registers != 0) {
    register_tokens_ = scope.take_flat("register_tokens", {config.registers, width});
  }
  if (config.rotary_pairs == 0) {
    positions_ =
        scope.take_flat("pos_embed", {1, config.placed() + config.grid().patches(), width});
  }
  if (config.norm) norm_.emplace(scope / "embed.ln", *config.norm);
}

std::shared_ptr<const ImageEmbedding> ImageEmbedding::made(const WeightScope& scope,
                                                           const ImageEmbeddingConfig& config) {
  return std::make_shared<ImageEmbedding>(scope, config);
}

Shape ImageEmbedding::output_shape(const Shape& images, bool interpolate) const {
  if (config_.patch.spectrograms) {
    const Shape expected{images.rank() == 0 ? 0 : images[0], config_.image_width,
                         config_.image_height};
    if (!(images == expected)) {
      fail(ErrorCode::shape_mismatch, "input_values of shape ", images.text(),
           ", expected [batch, ", config_.image_width, " frames, ", config_.image_height,
           " mel bins]");
    }
  }
  const Grid grid = patches_.grid(images);
  if (!interpolate && config_.other_sizes == OtherSizes::on_request &&
      !config_.patch.spectrograms &&
      (images[2] != config_.image_height || images[3] != config_.image_width)) {
    fail(ErrorCode::shape_mismatch, "pixel_values: images of ", images[2], " x ", images[3],
         " pixels, the model was made for ", config_.image_height, " x ", config_.image_width,
         " (interpolate_pos_encoding: true among the inputs stretches its positions)");
  }
  return {images[0], config_.prefix() + grid.patches(), config_.patch.d_model};
}

// DINOv2 in transformers takes a table for that of a square image, unless the image is square and as large.
Grid ImageEmbedding::table_grid(const Shape& images) const {
  const Grid own = config_.grid();
  if (config_.other_sizes == OtherSizes::on_request) return own;
  const bool square = images[2] == images[3] && patches_.grid(images) == own;
  return square ? own : square_grid(own.patches(), 0);
}

void ImageEmbedding::add_positions(const MutableTensorView& x, const Shape& images,
                                   const Context& context) const {
  Arena::Frame frame(context.arena);
  const std::size_t width = x.dim(2), placed = config_.placed() * width;
  const auto antialias =
      config_.other_sizes == OtherSizes::antialias ? Antialias::yes : Antialias::no;
  const Tensor table =
      interpolate_positions(positions_, table_grid(images), patches_.grid(images), antialias);
  const MutableTensorView positions = context.arena.take({1, x.dim(1), width});
  float* const registers = positions.f32() + placed;
  float* const patches = registers + config_.registers * width;
  std::memcpy(positions.f32(), table.f32(), placed * sizeof(float));
  std::memset(registers, 0, config_.registers * width * sizeof(float));
  std::memcpy(patches, table.f32() + placed, (table.elements() - placed) * sizeof(float));
  context.trace("hook_pos_embed", positions, "1 pos d_model");
  for (std::size_t image = 0; image < x.dim(0); ++image) {
    float* row = x.f32() + image * positions.elements();
    kernels::add(row, positions.f32(), row, positions.elements());
  }
}

void ImageEmbedding::forward(const TensorView& images, const MutableTensorView& x,
                             const Context& context) const {
  Arena::Frame frame(context.arena);
  const Grid grid = patches_.grid(images.shape());
  const MutableTensorView patches =
      context.arena.take({images.dim(0), grid.patches(), config_.patch.d_model});
  patches_.forward(images, patches, context.arena);
  const MutableTensorView tokens = context.arena.take({config_.prefix(), config_.patch.d_model});
  float* row = tokens.f32();  // (P, D)
  for (const Tensor* part : {&class_token_, &distillation_token_, &register_tokens_}) {
    if (!part->empty()) row = std::copy_n(part->f32(), part->elements(), row);
  }
  prepend_tokens(tokens, patches, x);
  context.trace("hook_embed", x, kImageLegend);
  if (config_.rotary_pairs == 0) add_positions(x, images.shape(), context);
  if (norm_) norm_->forward(x, x, context / "embed.ln");
  context.trace("hook_full_embed", x, kImageLegend);
}

Grid ImageEmbedding::grid(const TensorView* images) const {
  return images == nullptr ? config_.grid() : patches_.grid(images->shape());
}

// In float, as transformers computes them.
RotaryTable ImageEmbedding::turns(const Grid& grid, std::size_t length, Arena& arena) const {
  const std::size_t prefix = length - grid.patches();
  const RotaryConfig rotary{.d_head = 2 * config_.rotary_pairs, .base = config_.rotary_base};
  const std::vector<double> radians = rotary_frequencies(rotary, 0).radians;
  const Shape shape{1, length, 2 * radians.size()};
  const MutableTensorView cosines = arena.take(shape), sines = arena.take(shape);
  float* cosine = std::fill_n(cosines.f32(), prefix * shape[2], 1.0f);
  float* sine = std::fill_n(sines.f32(), prefix * shape[2], 0.0f);
  const auto turn = [&](std::size_t at, std::size_t count) {
    constexpr float kTau = 6.28318530717958647692f;
    const float share = (static_cast<float>(at) + 0.5f) / static_cast<float>(count);
    const float place = kTau * (2.0f * share - 1.0f);
    for (const double radian : radians) {
      const SineCosine turned = portable_sine_cosine(place * static_cast<float>(radian));
      *cosine++ = static_cast<float>(turned.cosine);
      *sine++ = static_cast<float>(turned.sine);
    }
  };
  for (std::size_t patch = 0; patch < grid.patches(); ++patch) {
    turn(patch / grid.columns, grid.rows);
    turn(patch % grid.columns, grid.columns);
  }
  return {cosines, sines, rotary.layout};
}

void ImageEmbedding::probe(const MutableTensorView& x, const Context& context) const {
  context.trace("hook_embed", x, kImageLegend);
  if (config_.rotary_pairs == 0) context.trace("hook_pos_embed", x, "1 pos d_model");
  if (norm_) norm_->forward(x, x, context / "embed.ln");
  context.trace("hook_full_embed", x, kImageLegend);
}

}  // namespace clearformer
