// Layers without attention, over a text in one call and over its parts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "clearformer/layers/position_mixer.h"
#include "support/closeness.h"

namespace clearformer::test {

/// That x (B, T, D), padded where mask (B, T) is 0, has the same results however it is cut into calls.
inline void expect_same_bits_for_any_cut(const PositionMixer& layer, const Tensor& x,
                                         const TensorView& mask) {
  const std::size_t batch = x.dim(0), length = x.dim(1), width = x.dim(2);
  Arena arena;
  const Context context{arena, TraceScope()};
  Tensor whole(x.shape());
  layer.forward(x, &mask, nullptr, whole, Write::over, context);
  for (const std::size_t chunk : {1u, 2u, 3u, 5u, 7u}) {
    std::unique_ptr<PastState> past;
    for (std::size_t first = 0; first < length; first += chunk) {
      const std::size_t count = std::min(chunk, length - first), seen = first + count;
      Tensor in({batch, count, width}), out({batch, count, width}), part({batch, count, width});
      Tensor flags({batch, seen}, DType::u8);
      for (std::size_t row = 0; row < batch; ++row) {
        const std::size_t from = (row * length + first) * width, to = row * count * width;
        std::copy_n(x.f32() + from, count * width, in.f32() + to);
        std::copy_n(whole.f32() + from, count * width, part.f32() + to);
        std::copy_n(mask.as<std::uint8_t>() + row * length, seen,
                    flags.mutable_view().as<std::uint8_t>() + row * seen);
      }
      const TensorView now = flags;
      layer.forward(in, &now, &past, out, Write::over, context);
      expect_same_bits(concat("chunks of ", chunk, " at ", first), out, part);
      EXPECT_EQ(past->length(), seen);
    }
  }
}

}  // namespace clearformer::test
