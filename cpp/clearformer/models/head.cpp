#include "clearformer/models/head.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

namespace {

// The mean of the rows (T, D) that the mask allows; zeros if it allows none.
[[gnu::noinline]] void mean_of(const float* rows, const std::uint8_t* mask, std::size_t length,
                               std::size_t width, float* out) {
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
  const bool twice = config.pick == HeadConfig::Pick::first_and_patches;
  const std::size_t picked = twice ? 2 * config.d_model : config.d_model;
  const std::size_t width = config.dense_outputs == 0 ? picked : config.dense_outputs;
  if (config.probe) probe_.emplace(scope, *config.probe);
  if (config.dense) dense_ = Linear(scope / "dense", picked, width, config.dense_bias);
  if (config.norm) norm_.emplace(scope / "norm", *config.norm);
  if (config.outputs != 0) {
    const OutputConfig out{width, config.outputs, config.bias};
    out_.emplace(scope / "out", out, tied);
  }
}

HeadConfig::Pick Head::first_pick() const {
  const bool late = config_.pick == HeadConfig::Pick::mean_of_dense;
  return late ? HeadConfig::Pick::all : config_.pick;
}

MutableTensorView Head::pick(HeadConfig::Pick which, const TensorView& x,
                             const Positions& positions, Arena& arena) const {
  using Pick = HeadConfig::Pick;
  const std::size_t batch = x.dim(0), length = x.dim(1), width = x.dim(2);
  const bool all = which == Pick::all;
  const bool twice = which == Pick::first_and_patches;
  const std::size_t outputs = twice ? 2 * width : width;
  const MutableTensorView picked = arena.take(all ? x.shape() : Shape{batch, outputs});
  if (all) {
    std::memcpy(picked.data(), x.data(), picked.bytes());
    return picked;
  }
  for (std::size_t row = 0; row < batch; ++row) {
    const float* sequence = x.f32() + row * length * width;
    float* to = picked.f32() + row * outputs;
    if (which == Pick::mean) {
      const std::uint8_t* mask =
          positions.mask == nullptr ? nullptr : positions.mask->as<std::uint8_t>() + row * length;
      mean_of(sequence, mask, length, width, to);
      continue;
    }
    if (which == Pick::first_two) {
      mean_of(sequence, nullptr, std::min<std::size_t>(2, length), width, to);
      continue;
    }
    if (twice) {
      const std::size_t from =
          std::min(config_.patches_from, length);  // hooks are listed with T = 1
      mean_of(sequence + from * width, nullptr, length - from, width, to + width);
    }
    std::size_t position = which == Pick::second ? 1 : 0;
    if (which == Pick::last) position = length - 1;
    const bool given = positions.positions != nullptr;  // not where hooks are listed
    if (given && which == Pick::given) position = positions.positions[row];
    std::memcpy(to, sequence + position * width, width * sizeof(float));
  }
  return picked;
}

MutableTensorView Head::pooled(const TensorView& x, const Context& context) const {
  const MutableTensorView pooled = context.arena.take({x.dim(0), 1, x.dim(2)});
  probe_->forward(x, pooled, context);
  return pooled.reshaped({x.dim(0), x.dim(2)});
}

Tensor Head::forward(const TensorView& x, const Positions& positions,
                     const Context& context) const {
  Arena::Frame frame(context.arena);
  // (B, D), (B, 2·D) or (B, T, D)
  MutableTensorView hidden =
      probe_ ? pooled(x, context) : pick(first_pick(), x, positions, context.arena);
  if (config_.dense) {
    const MutableTensorView dense =
        context.arena.take(with_width(hidden.shape(), dense_.out_features()));
    dense_.forward(hidden, dense);
    if (context.trace.keeps_inputs()) context.trace.keep("picked", hidden);
    context.trace.keep("pre", dense);
    apply(*config_.dense, dense.f32(), dense.elements());
    hidden = dense;
  }
  if (first_pick() != config_.pick) {
    hidden = pick(HeadConfig::Pick::mean, hidden, positions, context.arena);
  }
  if (norm_) norm_->forward(hidden, hidden, context / "norm");
  if (config_.shows_pooled()) context.trace("hook_pooler_out", hidden, "batch d_model");
  if (out_ && context.trace.keeps_inputs()) context.trace.keep("hidden", hidden);
  Tensor result(out_ ? with_width(hidden.shape(), config_.outputs) : hidden.shape());
  if (out_) {
    out_->forward(hidden, result);
  } else {
    std::memcpy(result.data(), hidden.data(), hidden.bytes());
  }
  return result;
}

}  // namespace clearformer
