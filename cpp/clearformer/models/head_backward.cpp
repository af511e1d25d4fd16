#include <algorithm>
#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/models/head.h"

namespace clearformer {

namespace {

// Adds the gradient of mean_of(): each row that the mask allows takes its share.
void mean_back(const float* d, const std::uint8_t* mask, std::size_t length, std::size_t width,
               float* rows) {
  const auto allowed = [&](std::size_t t) { return mask == nullptr || mask[t] != 0; };
  std::size_t count = 0;
  for (std::size_t t = 0; t < length; ++t) count += allowed(t) ? 1 : 0;
  if (count == 0) return;
  const float share = 1.0f / static_cast<float>(count);
  for (std::size_t t = 0; t < length; ++t) {
    for (std::size_t i = 0; i < width && allowed(t); ++i) rows[t * width + i] += share * d[i];
  }
}

}  // namespace

// The mirror of pick().
void Head::pick_back(HeadConfig::Pick which, const TensorView& d, const Positions& positions,
                     const MutableTensorView& dx) const {
  using Pick = HeadConfig::Pick;
  const std::size_t batch = dx.dim(0), length = dx.dim(1), width = dx.dim(2);
  if (which == Pick::all) return kernels::add(dx.f32(), d.f32(), dx.f32(), d.elements());
  const bool twice = which == Pick::first_and_patches;
  for (std::size_t row = 0; row < batch; ++row) {
    float* const sequence = dx.f32() + row * length * width;
    const float* const from = d.f32() + row * (twice ? 2 : 1) * width;
    if (which == Pick::mean) {
      const std::uint8_t* mask =
          positions.mask == nullptr ? nullptr : positions.mask->as<std::uint8_t>() + row * length;
      mean_back(from, mask, length, width, sequence);
      continue;
    }
    if (which == Pick::first_two) {
      mean_back(from, nullptr, std::min<std::size_t>(2, length), width, sequence);
      continue;
    }
    if (twice) {
      const std::size_t first = std::min(config_.patches_from, length);
      mean_back(from + width, nullptr, length - first, width, sequence + first * width);
    }
    std::size_t position = which == Pick::second ? 1 : 0;
    if (which == Pick::last) position = length - 1;
    if (which == Pick::given) position = positions.positions[row];
    kernels::add(sequence + position * width, from, sequence + position * width, width);
  }
}

void Head::backward(const TensorView& x, const Positions& positions, const MutableTensorView& d,
                    const MutableTensorView& dx, const Context& context) const {
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const TraceScope& trace = context.trace;
  WeightGradients* const weights = trace.weights();
  MutableTensorView hidden = d;
  const auto resized = [&](std::size_t width) {
    Shape shape = hidden.shape();
    shape[shape.rank() - 1] = width;
    return arena.take(shape);
  };
  if (out_) {
    hidden = resized(out_->projection().in_features());
    const TensorView in = weights == nullptr ? TensorView() : trace.kept("hidden");
    out_->backward(in, {}, d, hidden, weights, arena);
  }
  if (config_.shows_pooled()) trace.back("hook_pooler_out", hidden, "batch d_model");
  if (norm_) norm_->backward(hidden, hidden, Write::over, context / "norm");
  if (first_pick() != config_.pick) {
    const MutableTensorView all = arena.take({x.dim(0), x.dim(1), hidden.dim(1)});
    std::memset(all.data(), 0, all.bytes());
    pick_back(HeadConfig::Pick::mean, hidden, positions, all);
    hidden = all;
  }
  if (config_.dense) {
    apply_derivative(*config_.dense, trace.kept("pre").f32(), hidden.f32(), hidden.elements());
    const MutableTensorView picked = resized(dense_.in_features());
    const TensorView in = weights == nullptr ? TensorView() : trace.kept("picked");
    dense_.backward(in, hidden, picked, Write::over, weights, arena);
    hidden = picked;
  }
  if (!probe_) return pick_back(first_pick(), hidden, positions, dx);
  probe_->backward(x, hidden.reshaped({hidden.dim(0), 1, hidden.dim(1)}), dx, context);
}

}  // namespace clearformer
