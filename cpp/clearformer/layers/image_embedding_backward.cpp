#include <algorithm>
#include <cstring>

#include "clearformer/layers/image_embedding.h"

namespace clearformer {

namespace {

constexpr std::string_view kImageGradient = "batch pos d_model";

// Σ over the batch of rows `first` … of d (B, T, D), onto `sums`, if they are wanted.
void add_tokens(const TensorView& d, std::size_t first, std::size_t count, float* sums) {
  const std::size_t width = d.dim(2), sequence = d.dim(1) * width;
  for (std::size_t row = 0; row < d.dim(0) && sums != nullptr; ++row) {
    const float* from = d.f32() + row * sequence + first * width;
    for (std::size_t i = 0; i < count * width; ++i) sums[i] += from[i];
  }
}

}  // namespace

void ImageEmbedding::positions_back(const TensorView& d, const Shape& images,
                                    const Context& context) const {
  Arena::Frame frame(context.arena);
  const std::size_t width = d.dim(2), placed = config_.placed() * width;
  const MutableTensorView positions = context.arena.take({1, d.dim(1), width});
  std::memset(positions.data(), 0, positions.bytes());
  add_sum_of_rows(d.f32(), nullptr, d.dim(0), positions.elements(), positions.f32());
  context.trace.back("hook_pos_embed", positions, "1 pos d_model");
  WeightGradients* const weights = context.trace.weights();
  float* const sums = weights == nullptr ? nullptr : weights->of(positions_);
  if (sums == nullptr) return;
  const std::size_t registers = config_.registers * width;
  const MutableTensorView table =
      context.arena.take({1, positions.dim(1) - config_.registers, width});
  std::copy_n(positions.f32(), placed, table.f32());
  std::copy_n(positions.f32() + placed + registers, table.elements() - placed,
              table.f32() + placed);
  const auto antialias =
      config_.other_sizes == OtherSizes::antialias ? Antialias::yes : Antialias::no;
  interpolate_positions_backward(table, table_grid(images), patches_.grid(images), antialias, sums);
}

void ImageEmbedding::backward(const TensorView& images, const MutableTensorView& d,
                              const MutableTensorView& d_images, const Context& context) const {
  const TraceScope& trace = context.trace;
  WeightGradients* const weights = trace.weights();
  Arena::Frame frame(context.arena);
  trace.back("hook_full_embed", d, kImageGradient);
  if (norm_) norm_->backward(d, d, Write::over, context / "embed.ln");
  if (config_.rotary_pairs == 0) positions_back(d, images.shape(), context);
  trace.back("hook_embed", d, kImageGradient);
  std::size_t token = 0;
  for (const Tensor* part : {&class_token_, &distillation_token_, &register_tokens_}) {
    if (part->empty()) continue;
    add_tokens(d, token, part->dim(0), weights == nullptr ? nullptr : weights->of(*part));
    token += part->dim(0);
  }
  const std::size_t width = d.dim(2), rest = d.dim(1) - token;
  const MutableTensorView patches = context.arena.take({d.dim(0), rest, width});
  for (std::size_t row = 0; row < d.dim(0); ++row) {
    std::copy_n(d.f32() + (row * d.dim(1) + token) * width, rest * width,
                patches.f32() + row * rest * width);
  }
  patches_.backward(images, patches, d_images, weights, context.arena);
}

}  // namespace clearformer
