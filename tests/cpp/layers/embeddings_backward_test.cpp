#include <gtest/gtest.h>

#include "clearformer/layers/convolution.h"
#include "clearformer/layers/patch_embedding.h"
#include "clearformer/layers/position_interpolation.h"
#include "clearformer/layers/relative_position.h"
#include "support/closeness.h"
#include "support/differences.h"
#include "support/layer_weights.h"

namespace clearformer::test {
namespace {

// Layers that are linear in x: <forward(e_i), d> is element i of the gradient, for unit vectors e_i.
template <class Forward>
std::vector<double> transposed(const Shape& shape, const Forward& forward, const Tensor& d) {
  std::vector<double> gradient;
  for (std::size_t i = 0; i < shape.elements(); ++i) {
    Tensor unit = Tensor::zeros(shape);
    unit.f32()[i] = 1.0f;
    gradient.push_back(weighted_sum(doubles_of(forward(unit)), doubles_of(d)));
  }
  return gradient;
}

std::vector<float> floats_of(const Tensor& tensor) {
  return {tensor.f32(), tensor.f32() + tensor.elements()};
}

TEST(EmbeddingsBackward, OfPatchesGoToPixelsWeightAndBias) {
  // 5 x 7 pixels in patches of 2 x 3: a line and a column are dropped.
  const PatchConfig config{2, 2, 3, 4, Bias::present, Remainder::drop};
  LayerWeights weights;
  const Tensor w = weights.add("weight", {4, 2, 2, 3});
  weights.add("bias", Tensor::zeros({4}));
  const PatchEmbedding layer(weights.scope(), config);
  const auto parameters = weights.take_parameters();
  Random random(2);
  const Tensor images = random.tensor({2, 2, 5, 7}), d = random.tensor({2, 4, 4});
  Arena arena;
  const auto forward = [&](const PatchEmbedding& of, const Tensor& x) {
    Tensor patches({2, 4, 4});
    of.forward(x, patches, arena);
    return patches;
  };
  WeightGradients gradients;
  for (const Parameter& parameter : parameters) gradients.want(parameter);
  Tensor d_images({2, 2, 5, 7});
  layer.backward(images, d, d_images, &gradients, arena);
  const Bound bound{gamma(20) * 8.0};
  expect_close(
      "images", floats_of(d_images),
      transposed(images.shape(), [&](const Tensor& x) { return forward(layer, x); }, d), bound);
  const auto by_weight = transposed(
      {4, 2, 2, 3},
      [&](const Tensor& weight) {
        LayerWeights other;
        other.add("weight", weight.clone());
        other.add("bias", Tensor::zeros({4}));
        return forward(PatchEmbedding(other.scope(), config), images);
      },
      d);
  std::vector<float> found(48);
  const auto rows = gradients.rows(parameters.at(0));
  for (std::size_t n = 0; n < 4; ++n) rows->copy_row(n, found.data() + n * 12);
  expect_close("weight", found, by_weight, bound);
  std::vector<double> of_bias(4);
  for (std::size_t i = 0; i < d.elements(); ++i) of_bias[i % 4] += d.f32()[i];
  std::vector<float> found_bias;
  for (std::size_t n = 0; n < 4; ++n) {
    float value;
    gradients.rows(parameters.at(1))->copy_row(n, &value);
    found_bias.push_back(value);
  }
  expect_close("bias", found_bias, of_bias, bound);
}

TEST(EmbeddingsBackward, OfInterpolatedPositionsGoToTheTable) {
  for (const Antialias antialias : {Antialias::no, Antialias::yes}) {
    for (const Grid to : {Grid{5, 2}, Grid{2, 2}, Grid{3, 4}}) {
      const Grid from{3, 4};
      const Shape table{1, 1 + from.patches(), 3};
      const Tensor d = Random(3).tensor({1, 1 + to.patches(), 3});
      std::vector<float> found(table.elements(), 0.5f);
      interpolate_positions_backward(d, from, to, antialias, found.data());
      auto expected = transposed(
          table, [&](const Tensor& x) { return interpolate_positions(x, from, to, antialias); }, d);
      for (double& value : expected) value += 0.5;
      expect_close("table", found, expected, Bound{gamma(8) * 8.0});
    }
  }
}

TEST(EmbeddingsBackward, OfRelativePositionsGoToTheTablesBuckets) {
  const RelativeBuckets buckets{8, 16, RelativeBuckets::Direction::bidirectional};
  const RelativeSpan span{5, 9, 3};
  const Tensor d = Random(4).tensor({1, 2, 5, 9});
  std::vector<float> found(16, -1.0f);
  relative_position_bias_backward(d, buckets, span, found.data());
  auto expected = transposed(
      {8, 2}, [&](const Tensor& x) { return relative_position_bias(x, buckets, span); }, d);
  for (double& value : expected) value -= 1.0;
  expect_close("table", found, expected, Bound{gamma(8) * 16.0});
}

TEST(EmbeddingsBackward, OfTheTapsOfAConvolutionGoToTheirFrames) {
  for (const Taps& taps : {Taps{3, 1, 1, 1}, Taps{3, 2, 1, 1}, Taps{2, 1, 0, 3}}) {
    const std::size_t frames = 7, channels = 2, outputs = taps.stride == 2 ? 4 : 5;
    const FrameLayout layout{channels, frames, 1, channels};
    const Tensor d = Random(5).tensor({outputs, channels * taps.count});
    std::vector<float> found(channels * frames);
    scatter_taps(d.f32(), layout, taps, outputs, found.data());
    const auto expected = transposed(
        {frames, channels},
        [&](const Tensor& x) {
          Tensor rows({outputs, channels * taps.count});
          gather_taps(x.f32(), layout, taps, outputs, rows.f32());
          return rows;
        },
        d);
    expect_close("frames", found, expected, Bound{gamma(4) * 4.0});
  }
}

}  // namespace
}  // namespace clearformer::test
