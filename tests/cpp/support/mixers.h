// What is expected of layers without attention: the same bits over a text in one call and over its parts, and gradients.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "clearformer/layers/position_mixer.h"
#include "support/closeness.h"
#include "support/differences.h"
#include "support/numeric_gradient.h"

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

/// That it has the gradients of x and of these parameters that steps of itself tell, written over and added.
inline void expect_mixer_gradients(const PositionMixer& layer, Tensor& x, const TensorView& mask,
                                   std::vector<Parameter>& parameters, Write write) {
  Arena arena;
  const Tensor d = Random(4).tensor(x.shape());
  const auto loss = [&] {
    Tensor out(d.shape());
    layer.forward(x, &mask, nullptr, out, Write::over, {arena, TraceScope()});
    return weighted_sum(doubles_of(out), doubles_of(d));
  };
  Differentiated pass(parameters);
  const Context context{arena, TraceScope(&pass.trace)};
  Tensor out(d.shape()), dx = d.clone();
  layer.forward(x, &mask, nullptr, out, Write::over, context);
  layer.backward(x, &mask, d, dx, write, context);
  std::vector<float> gradient(dx.f32(), dx.f32() + dx.elements());
  for (std::size_t i = 0; write == Write::onto && i < gradient.size(); ++i) {
    gradient[i] -= d.f32()[i];
  }
  expect_slopes("x", x, gradient, loss);
  expect_weight_slopes(parameters, pass.gradient.weights(), loss);
}

}  // namespace clearformer::test
