#include "clearformer/layers/patch_embedding.h"

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

}  // namespace

PatchEmbedding::PatchEmbedding(const WeightScope& scope, const PatchConfig& config)
    : config_(config), weight_(packed(scope, config)) {
  if (config_.bias == Bias::present) bias_ = scope.take("bias", {config_.d_model});
}

Grid PatchEmbedding::grid(const Shape& images) const {
  if (images.rank() != 4 || images[1] != config_.channels) {
    fail(ErrorCode::shape_mismatch, "patch embedding: images of shape ", images.text(),
         ", expected [batch, ", config_.channels, " channels, height, width]");
  }
  const Grid grid{images[2] / config_.patch_height, images[3] / config_.patch_width};
  const bool whole = grid.rows * config_.patch_height == images[2] &&
                     grid.columns * config_.patch_width == images[3];
  if (grid.patches() == 0 || (!whole && config_.remainder == Remainder::refuse)) {
    fail(ErrorCode::shape_mismatch, "patch embedding: images of ", images[2], " x ", images[3],
         " pixels are not whole patches of ", config_.patch_height, " x ", config_.patch_width);
  }
  return grid;
}

void PatchEmbedding::forward(const TensorView& images, const MutableTensorView& patches,
                             Arena& arena) const {
  const Grid cut = grid(images.shape());
  const std::size_t height = images.dim(2), width = images.dim(3);
  const Shape expected{images.dim(0), cut.patches(), config_.d_model};
  if (!(patches.shape() == expected)) {
    fail(ErrorCode::shape_mismatch, "patch embedding: output of shape ", patches.shape().text(),
         ", expected ", expected.text());
  }
  Arena::Frame frame(arena);
  const MutableTensorView rows = arena.take({cut.patches(), weight_->inputs()});  // (N, C·p_h·p_w)
  for (std::size_t image = 0; image < images.dim(0); ++image) {
    float* to = rows.f32();
    const float* const first = images.f32() + image * config_.channels * height * width;
    for (std::size_t patch = 0; patch < cut.patches(); ++patch) {
      const std::size_t top = patch / cut.columns * config_.patch_height;
      const std::size_t left = patch % cut.columns * config_.patch_width;
      for (std::size_t line = 0; line < config_.channels * config_.patch_height; ++line) {
        const std::size_t channel = line / config_.patch_height;
        const std::size_t y = top + line % config_.patch_height;
        std::memcpy(to, first + (channel * height + y) * width + left,
                    config_.patch_width * sizeof(float));
        to += config_.patch_width;
      }
    }
    weight_->multiply(rows.f32(), patches.f32() + image * cut.patches() * config_.d_model,
                      cut.patches(), {.bias = bias_.empty() ? nullptr : bias_.f32()});
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
    fail(ErrorCode::shape_mismatch, "patch embedding: tokens of shape ", tokens.shape().text(),
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
