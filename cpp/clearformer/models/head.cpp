#include "clearformer/models/head.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

namespace {

// The mean of the rows (T, D) that the mask allows; zeros if it allows none.
void mean_of(const float* rows, const std::uint8_t* mask, std::size_t length, std::size_t width,
             float* out) {
  std::memset(out, 0, width * sizeof(float));
  std::size_t count = 0;
  for (std::size_t t = 0; t < length; ++t) {
    if (mask != nullptr && mask[t] == 0) continue;
    kernels::add(out, rows + t * width, out, width);
    ++count;
  }
  if (count != 0) kernels::scale(out, 1.0f / static_cast<float>(count), width);
}

Shape with_width(Shape shape, std::size_t width) {
  shape[shape.rank() - 1] = width;
  return shape;
}

}  // namespace

Head::Head(const WeightScope& scope, const HeadConfig& config, const Embedding* tied)
    : config_(config) {
  const std::size_t width = config.dense_outputs == 0 ? config.d_model : config.dense_outputs;
  if (config.dense) dense_ = Linear(scope / "dense", config.d_model, width, config.dense_bias);
  if (config.norm) norm_.emplace(scope / "norm", *config.norm);
  if (config.outputs != 0) {
    const OutputConfig out{width, config.outputs, config.bias};
    out_.emplace(scope / "out", out, tied);
  }
}

MutableTensorView Head::pick(const TensorView& x, const Positions& positions, Arena& arena) const {
  const std::size_t batch = x.dim(0), length = x.dim(1), width = x.dim(2);
  const bool all = config_.pick == HeadConfig::Pick::all;
  const MutableTensorView picked = arena.take(all ? x.shape() : Shape{batch, width});
  if (all) {
    std::memcpy(picked.data(), x.data(), picked.bytes());
    return picked;
  }
  for (std::size_t row = 0; row < batch; ++row) {
    const float* sequence = x.f32() + row * length * width;
    float* to = picked.f32() + row * width;
    if (config_.pick == HeadConfig::Pick::mean) {
      const std::uint8_t* mask =
          positions.mask == nullptr ? nullptr : positions.mask->as<std::uint8_t>() + row * length;
      mean_of(sequence, mask, length, width, to);
      continue;
    }
    std::size_t position = config_.pick == HeadConfig::Pick::second ? 1 : 0;
    if (config_.pick == HeadConfig::Pick::given) position = positions.positions[row];
    std::memcpy(to, sequence + position * width, width * sizeof(float));
  }
  return picked;
}

Tensor Head::forward(const TensorView& x, const Positions& positions,
                     const Context& context) const {
  Arena::Frame frame(context.arena);
  MutableTensorView hidden = pick(x, positions, context.arena);  // (B, D) or (B, T, D)
  if (config_.dense) {
    const MutableTensorView dense =
        context.arena.take(with_width(hidden.shape(), dense_.out_features()));
    dense_.forward(hidden, dense);
    apply(*config_.dense, dense.f32(), dense.elements());
    hidden = dense;
  }
  if (norm_) norm_->forward(hidden, hidden, context / "norm");
  Tensor result(out_ ? with_width(hidden.shape(), config_.outputs) : hidden.shape());
  if (out_) {
    out_->forward(hidden, result);
  } else {
    context.trace("hook_pooler_out", hidden, "batch d_model");
    std::memcpy(result.data(), hidden.data(), hidden.bytes());
  }
  return result;
}

}  // namespace clearformer
