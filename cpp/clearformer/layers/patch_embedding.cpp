#include "clearformer/layers/patch_embedding.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/matmul.h"

namespace clearformer {

namespace {

std::shared_ptr<const kernels::PackedMatrix> packed(const WeightScope& scope,
                                                    const PatchConfig& config) {
  const std::size_t pixels = config.channels * config.patch_height * config.patch_width;
  if (pixels == 0 || config.d_model == 0) {
    fail(ErrorCode::invalid_argument, "patch embedding: ", config.channels,
         " channels, patches of ", config.patch_height, " x ", config.patch_width,
         " and dimension ", config.d_model, " must all be > 0");
  }
  return take_packed_exact(
      scope, "weight", {config.d_model, config.channels, config.patch_height, config.patch_width});
}

// An image in memory: the distances from a row to the next and from a column to the next.
struct ImageStrides {
  std::size_t height, width, row, column;
};

ImageStrides strides_of(const Shape& images, const PatchConfig& config) {
  if (config.spectrograms) return {images[2], images[1], 1, images[2]};
  return {images[2], images[3], images[3], 1};
}

// Calls visit(pixels, row, apart) for each line of pixels of the patches of image (C, H, W), which are `apart` floats from one
// another, where `row` runs through rows (N, C·p_h·p_w).
template <class Float, class Visit>
void for_each_line(Float* image, const Shape& images, const PatchConfig& config, const Grid& cut,
                   float* row, Visit visit) {
  const ImageStrides strides = strides_of(images, config);
  const std::size_t down = config.step_height == 0 ? config.patch_height : config.step_height;
  const std::size_t right = config.step_width == 0 ? config.patch_width : config.step_width;
  for (std::size_t patch = 0; patch < cut.patches(); ++patch) {
    const std::size_t top = patch / cut.columns * down, left = patch % cut.columns * right;
    for (std::size_t line = 0; line < config.channels * config.patch_height; ++line) {
      const std::size_t channel = line / config.patch_height;
      const std::size_t y = channel * strides.height + top + line % config.patch_height;
      visit(image + y * strides.row + left * strides.column, row, strides.column);
      row += config.patch_width;
    }
  }
}

}  // namespace

PatchEmbedding::PatchEmbedding(const WeightScope& scope, const PatchConfig& config)
    : config_(config), weight_(packed(scope, config)) {
  if (config_.bias == Bias::present) bias_ = scope.take("bias", {config_.d_model});
}

Grid PatchConfig::cut(std::size_t height, std::size_t width) const {
  const auto count = [](std::size_t extent, std::size_t patch, std::size_t step) {
    return extent < patch ? 0 : (extent - patch) / (step == 0 ? patch : step) + 1;
  };
  return {count(height, patch_height, step_height), count(width, patch_width, step_width)};
}

Grid PatchEmbedding::grid(const Shape& images) const {
  if (config_.spectrograms ? images.rank() != 3
                           : images.rank() != 4 || images[1] != config_.channels) {
    fail(ErrorCode::shape_mismatch, "patch embedding: images of shape ", images.text(),
         ", expected [batch, ", config_.channels, " channels, height, width]");
  }
  const ImageStrides strides = strides_of(images, config_);
  const Grid grid = config_.cut(strides.height, strides.width);
  const bool whole = grid.rows * config_.patch_height == strides.height &&
                     grid.columns * config_.patch_width == strides.width;
  if (grid.patches() == 0 || (!whole && config_.remainder == Remainder::refuse)) {
    fail(ErrorCode::shape_mismatch, "patch embedding: images of ", strides.height, " x ",
         strides.width, " pixels are not whole patches of ", config_.patch_height, " x ",
         config_.patch_width);
  }
  return grid;
}

void PatchEmbedding::forward(const TensorView& images, const MutableTensorView& patches,
                             Arena& arena) const {
  const Grid cut = grid(images.shape());
  const Shape expected{images.dim(0), cut.patches(), config_.d_model};
  if (!(patches.shape() == expected)) {
    fail(ErrorCode::shape_mismatch, "patch embedding: output of shape ", patches.shape().text(),
         ", expected ", expected.text());
  }
  Arena::Frame frame(arena);
  const MutableTensorView rows = arena.take({cut.patches(), weight_->inputs()});  // (N, C·p_h·p_w)
  const std::size_t pixels = images.elements() / std::max<std::size_t>(1, images.dim(0));
  for (std::size_t image = 0; image < images.dim(0); ++image) {
    gather(images.f32() + image * pixels, images.shape(), rows.f32());
    weight_->multiply(rows.f32(), patches.f32() + image * cut.patches() * config_.d_model,
                      cut.patches(), {.bias = bias_.empty() ? nullptr : bias_.f32()});
  }
}

// The pixels of each patch of an image (C, H, W) as a row.
void PatchEmbedding::gather(const float* image, const Shape& images, float* rows) const {
  for_each_line(image, images, config_, grid(images), rows,
                [this](const float* pixels, float* row, std::size_t apart) {
                  for (std::size_t x = 0; x < config_.patch_width; ++x) row[x] = pixels[x * apart];
                });
}

void PatchEmbedding::backward(const TensorView& images, const TensorView& d_patches,
                              const MutableTensorView& d_images, const WeightGradients* gradients,
                              Arena& arena) const {
  const Grid cut = grid(images.shape());
  const std::size_t patches = cut.patches(), batch = images.dim(0);
  const bool fits = d_patches.shape() == Shape{batch, patches, config_.d_model} &&
                    (d_images.data() == nullptr || d_images.shape() == images.shape());
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "patch embedding: gradients of shapes ",
         d_patches.shape().text(), " and ", d_images.shape().text(), " of images ",
         images.shape().text());
  }
  const std::size_t pixels = images.elements() / std::max<std::size_t>(1, batch);
  Arena::Frame frame(arena);
  float* const rows = arena.take({patches, weight_->inputs()}).f32();
  kernels::PanelGradient* const sums = gradients == nullptr ? nullptr : gradients->of(*weight_);
  float* const of_bias = gradients == nullptr ? nullptr : gradients->of(bias_);
  if (of_bias != nullptr) {
    add_sum_of_rows(d_patches.f32(), nullptr, batch * patches, config_.d_model, of_bias);
  }
  const bool wanted = d_images.data() != nullptr;
  if (wanted) std::memset(d_images.data(), 0, d_images.bytes());
  for (std::size_t image = 0; image < batch; ++image) {
    const float* d = d_patches.f32() + image * patches * config_.d_model;
    if (sums != nullptr) {
      gather(images.f32() + image * pixels, images.shape(), rows);
      sums->add_outer(d, rows, patches, arena);
    }
    if (!wanted) continue;
    weight_->multiply_transposed(d, rows, patches, nullptr, arena);
    for_each_line(d_images.f32() + image * pixels, images.shape(), config_, cut, rows,
                  [this](float* to, const float* row, std::size_t apart) {
                    for (std::size_t x = 0; x < config_.patch_width; ++x) to[x * apart] += row[x];
                  });
  }
}

void prepend_tokens(const TensorView& tokens, const TensorView& x,
                    const MutableTensorView& output) {
  const Shape& shape = x.shape();
  const std::size_t count = tokens.shape().outer(1);
  const bool fits = shape.rank() == 3 && tokens.shape().rank() != 0 &&
                    tokens.shape().back(0) == shape[2] &&
                    output.shape() == Shape{shape[0], count + shape[1], shape[2]};
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "prepend_tokens: tokens of shape ", tokens.shape().text(),
         " before x of shape ", shape.text(), " do not fit an output of shape ",
         output.shape().text());
  }
  const std::size_t width = shape[2], sequence = shape[1] * width;
  float* to = output.f32();
  for (std::size_t batch = 0; batch < shape[0]; ++batch) {
    std::memcpy(to, tokens.f32(), count * width * sizeof(float));
    to += count * width;
    std::memcpy(to, x.f32() + batch * sequence, sequence * sizeof(float));
    to += sequence;
  }
}

}  // namespace clearformer
