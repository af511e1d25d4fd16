#include "clearformer/models/predictions.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/models/metric.h"

namespace clearformer {

namespace {

// The positions of x (B, T, D) as (B, positions, D), allocated in the arena; no positions: x.
MutableTensorView kept_positions(const MutableTensorView& x,
                                 std::span<const std::int64_t> positions, Arena& arena) {
  if (positions.empty()) return x;
  const std::size_t batch = x.dim(0), width = x.dim(2), kept = positions.size();
  const auto length = static_cast<std::int64_t>(x.dim(1));
  const MutableTensorView taken = arena.take({batch, kept, width});
  for (std::size_t i = 0; i < batch * kept; ++i) {
    const std::int64_t given = positions[i % kept];
    const std::int64_t position = given < 0 ? given + length : given;
    if (position < 0 || position >= length) {
      fail(ErrorCode::invalid_argument, "logits_to_keep: position ", given, " of ", length);
    }
    const std::size_t row = i / kept * x.dim(1) + static_cast<std::size_t>(position);
    std::memcpy(taken.f32() + i * width, x.f32() + row * width, width * sizeof(float));
  }
  return taken;
}

// Its backward pass: adds the gradient (B, positions, D) to that of x (B, T, D).
void kept_positions_back(const TensorView& d_kept, std::span<const std::int64_t> positions,
                         const MutableTensorView& d) {
  const std::size_t length = d.dim(1), width = d.dim(2), kept = d_kept.dim(1);
  for (std::size_t i = 0; i < d.dim(0) * kept; ++i) {
    std::size_t position = i % kept;
    if (!positions.empty()) {
      const std::int64_t given = positions[position];
      position =
          static_cast<std::size_t>(given < 0 ? given + static_cast<std::int64_t>(length) : given);
    }
    float* const row = d.f32() + (i / kept * length + position) * width;
    kernels::add(row, d_kept.f32() + i * width, row, width);
  }
}

}  // namespace

Tensor Predictions::forward(const MutableTensorView& x, const Context& context) {
  in_ = kept_positions(x, kept_, context.arena);
  Tensor logits;
  if (context.trace.returns_logits()) {
    logits = Tensor({in_.dim(0), in_.dim(1), config_.d_vocab()});
    layer_.forward(in_, logits);
  }
  return logits;
}

void Predictions::backward(const Tensor& logits, const MutableTensorView& d,
                           const Context& context) const {
  const Shape shape{in_.dim(0), in_.dim(1), config_.d_vocab()};
  const OutputValue value{"logits", {logits.data(), DType::f32, shape}, kept_, d.dim(1)};
  const MutableTensorView d_in = context.arena.take(in_.shape());
  predictions_back(config_, layer_, value, in_, d_in, context);
  kept_positions_back(d_in, kept_, d);
}

}  // namespace clearformer
