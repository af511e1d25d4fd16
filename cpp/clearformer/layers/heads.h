// Heads: a strided view of an attention operand, for either order of its axes.
// Shapes: B batch, T positions, H heads, d width.
#pragma once

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Element (b, t, h, i) is row(b, t, h)[i]. A stride of 0 broadcasts without copying.
template <class Float>
struct HeadsOf {
  Float* data = nullptr;
  std::size_t batch = 0, length = 0, heads = 0, width = 0;
  std::size_t batch_stride = 0, row_stride = 0, head_stride = 0;

  Float* row(std::size_t b, std::size_t t, std::size_t h) const {
    return data + b * batch_stride + t * row_stride + h * head_stride;
  }
};
/// Read-only operands.
using Heads = HeadsOf<const float>;
/// Writable operands.
using MutableHeads = HeadsOf<float>;

/// A tensor (B, T, H, d), the layout linear layers produce.
template <class Float>
HeadsOf<Float> positions_first(Float* data, const Shape& shape) {
  const std::size_t row = shape[2] * shape[3];
  return {data, shape[0], shape[1], shape[2], shape[3], shape[1] * row, row, shape[3]};
}
/// The same for a view.
inline Heads positions_first(const TensorView& x) { return positions_first(x.f32(), x.shape()); }
/// The same, writable.
inline MutableHeads positions_first_mutable(const MutableTensorView& x) {
  return positions_first(x.f32(), x.shape());
}

/// A tensor (B, H, T, d), the layout of torch's scaled_dot_product_attention.
template <class Float>
HeadsOf<Float> heads_first(Float* data, const Shape& shape) {
  const std::size_t head = shape[2] * shape[3];
  return {data, shape[0], shape[2], shape[1], shape[3], shape[1] * head, shape[3], head};
}
/// The same for a view.
inline Heads heads_first(const TensorView& x) { return heads_first(x.f32(), x.shape()); }
/// The same, writable.
inline MutableHeads heads_first_mutable(const MutableTensorView& x) {
  return heads_first(x.f32(), x.shape());
}

/// (B, T, H, d) as (B, T, H·d)
inline MutableTensorView heads_joined(const MutableTensorView& x) {
  return x.reshaped({x.dim(0), x.dim(1), x.dim(2) * x.dim(3)});
}

}  // namespace clearformer
