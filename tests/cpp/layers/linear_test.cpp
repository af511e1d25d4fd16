#include "clearformer/layers/linear.h"

#include <gtest/gtest.h>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/layer_weights.h"
#include "support/naive_layers.h"

namespace clearformer::test {
namespace {

TEST(Linear, EqualsTheNaiveTwinForInputsOfAnyRank) {
  for (const Bias bias : {Bias::none, Bias::present}) {
    for (const Shape& shape :
         {Shape{7}, Shape{3, 7}, Shape{2, 5, 7}, Shape{2, 1, 3, 7}, Shape{0, 7}}) {
      SCOPED_TRACE(shape.text());
      LayerWeights weights;
      const Tensor w = weights.add("weight", {19, 7});
      const Tensor b = bias == Bias::present ? weights.add("bias", {19}) : Tensor();
      const Linear linear(weights.scope(), 7, 19, bias);
      weights.check();
      EXPECT_EQ(linear.in_features(), 7u);
      EXPECT_EQ(linear.out_features(), 19u);
      const Tensor x = Random(2).tensor(shape);
      Shape out = shape;
      out[out.rank() - 1] = 19;
      Tensor y(out);
      linear.forward(x, y);
      // Seven products and eight sums of numbers within ±1.
      Numbers expected(naive::linear(Numbers(x).values, w, b));
      expected.shape = out;
      expect_close("y", y, expected, Bound{gamma(8) * 8.0});
    }
  }
}

TEST(Linear, InputsOfTheWrongWidthAreRefused) {
  LayerWeights weights;
  weights.add("weight", {3, 7});
  const Linear linear(weights.scope(), 7, 3, Bias::none);
  Tensor y({2, 3});
  expect_error(ErrorCode::shape_mismatch, {"linear", "[2, 6]", "7"},
               [&] { linear.forward(Tensor::zeros({2, 6}), y); });
  expect_error(ErrorCode::shape_mismatch, {"linear", "[]", "7"},
               [&] { linear.forward(Tensor::zeros({}), y); });
}

TEST(Linear, WeightsOfTheWrongShapeAreReported) {
  LayerWeights weights;
  weights.add("weight", {7, 3});
  const Linear linear(weights.scope(), 7, 3, Bias::present);
  expect_error(ErrorCode::shape_mismatch,
               {"layer.safetensors", "\"weight\"", "[7, 3]", "[3, 7]", "\"bias\"", "missing"},
               [&] { weights.check(); });
}

TEST(Linear, OutputsOfTheWrongSizeAreRefused) {
  LayerWeights weights;
  weights.add("weight", {3, 7});
  const Linear linear(weights.scope(), 7, 3, Bias::none);
  const Tensor x = Tensor::zeros({2, 7});
  for (const Shape& shape : {Shape{1, 3}, Shape{2, 4}, Shape{7}}) {
    Tensor y(shape);
    expect_error(ErrorCode::shape_mismatch, {"linear", shape.text(), "3 outputs", "[2, 7]"},
                 [&] { linear.forward(x, y); });
    expect_error(ErrorCode::shape_mismatch, {"linear", shape.text()},
                 [&] { linear.multiply(x, y); });
  }
}

}  // namespace
}  // namespace clearformer::test
