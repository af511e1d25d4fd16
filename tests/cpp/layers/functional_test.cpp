// Functions of tensors against PyTorch; the cases include adversarial rows (±1e30, infinities).
#include "clearformer/layers/functional.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

std::ptrdiff_t dim_of(const Case& example) {
  return static_cast<std::ptrdiff_t>(example.option("dim").number());
}

double number(const Case& example, const char* name, double fallback) {
  const Json* value = example.options().find(name);
  return value == nullptr ? fallback : value->number();
}

double finite(double x) { return std::isfinite(x) ? std::abs(x) : 0.0; }

// x - max is rounded, exp and their sum change the logarithm by at most γ(n + 8), the result is rounded.
TEST(Functional, LogSoftmaxEqualsTheReference) {
  const Fixture fixture("functional");
  const auto cases = fixture.of_op("log_softmax");
  EXPECT_GT(cases.size(), 20u);
  for (const Case* example : cases) {
    SCOPED_TRACE(example->name());
    const Tensor& x = example->input("input");
    expect_close("output", log_softmax(x, dim_of(*example)), example->output("output"),
                 Bound{gamma(static_cast<double>(x.elements()) + 8.0), gamma(2)});
  }
}

TEST(Functional, SoftmaxOfAnAxisIsThatOfItsRows) {
  const Fixture fixture("functional");
  const Tensor& x = fixture.at("log_softmax_cube_dim0").input("input");  // (2, 3, 4)
  for (const std::ptrdiff_t axis : {0, 1, 2}) {
    const Tensor weights = softmax(x, axis), logs = log_softmax(x, axis);
    for (std::size_t i = 0; i < x.elements(); ++i) {
      EXPECT_NEAR(weights.f32()[i], std::exp(double{logs.f32()[i]}), gamma(40))
          << axis << ", " << i;
    }
  }
}

TEST(Functional, AScalarIsARowOfOne) {
  Tensor x = Tensor::zeros(Shape{});
  x.f32()[0] = 4.0f;
  for (const std::ptrdiff_t axis : {-1, 0}) {
    const Tensor weights = softmax(x, axis), logs = log_softmax(x, axis);
    EXPECT_EQ(weights.shape(), Shape{});
    EXPECT_EQ(weights.f32()[0], 1.0f);
    EXPECT_EQ(logs.shape(), Shape{});
    EXPECT_EQ(logs.f32()[0], 0.0f);
  }
  expect_error(ErrorCode::invalid_argument, {"axis 1"}, [&] { softmax(x, 1); });
}

TEST(Functional, ANaNIsNotHiddenInItsRow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t place = 0; place < 5; ++place) {
    Tensor x = Tensor::zeros({2, 5});
    x.f32()[place] = nan;
    const Tensor y = log_softmax(x);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(std::isnan(y.f32()[i]), i < 5) << place;
  }
}

// As in kernels/activations_test.cpp: a dozen units of the result, a few of the argument (the
// rounded 1.702 x of quick_gelu, in its exponent) and of 1.
TEST(Functional, ActivationsEqualTransformers) {
  const Fixture fixture("functional");
  const auto cases = fixture.of_op("activation");
  EXPECT_EQ(cases.size(), 23u);
  for (const Case* example : cases) {
    SCOPED_TRACE(example->name());
    const std::string name = example->option("activation").string();
    const auto kind = elementwise_named(name);
    ASSERT_TRUE(kind.has_value());
    const Tensor& x = example->input("input");
    const Numbers expected(example->output("output"));
    std::vector<double> bounds;
    for (std::size_t i = 0; i < x.elements(); ++i) {
      const double of_one = name == "sqrtsoftplus" ? std::sqrt(FLT_MIN) : gamma(8);
      const double in_range = std::min(finite(double{x.f32()[i]}), 104.0);
      bounds.push_back(of_one +
                       gamma(12.0 + (name == "quick_gelu" ? 4.0 * in_range : 0.0)) *
                           finite(expected.values[i]) +
                       gamma(3) * in_range);
    }
    expect_close("output", activation(*kind, x), expected, bounds);
  }
}

TEST(Functional, SoftplusEqualsTheReference) {
  const Fixture fixture("functional");
  const auto cases = fixture.of_op("softplus");
  EXPECT_EQ(cases.size(), 8u);
  for (const Case* example : cases) {
    SCOPED_TRACE(example->name());
    const auto beta = static_cast<float>(number(*example, "beta", 1.0));
    const auto threshold = static_cast<float>(number(*example, "threshold", 20.0));
    const Tensor& x = example->input("input");
    const Numbers expected(example->output("output"));
    std::vector<double> bounds;  // exp(-87.3) and less is 0
    for (const double y : expected.values)
      bounds.push_back(FLT_MIN / std::abs(beta) + gamma(12) * finite(y));
    expect_close("output", softplus(x, beta, threshold), expected, bounds);
  }
}

TEST(Functional, GatedUnitsEqualTheReference) {
  const Fixture fixture("functional");
  const std::pair<const char*, Activation> units[] = {{"glu", Activation::sigmoid},
                                                      {"reglu", Activation::relu},
                                                      {"geglu", Activation::gelu_erf},
                                                      {"swiglu", Activation::silu}};
  for (const auto& [unit, gate] : units) {
    const auto cases = fixture.of_op(unit);
    EXPECT_EQ(cases.size(), 5u);
    for (const Case* example : cases) {
      SCOPED_TRACE(example->name());
      // The halves are below 8; γ(3)·|b| of the gate remains where erf cancels.
      expect_close("output", gated(gate, example->input("input"), dim_of(*example)),
                   example->output("output"), Bound{gamma(3) * 64.0, gamma(12)});
    }
  }
  expect_error(ErrorCode::shape_mismatch, {"[2, 3]", "halved"},
               [] { gated(Activation::relu, Tensor::zeros({2, 3})); });
  expect_error(ErrorCode::invalid_argument, {"axis 2"},
               [] { gated(Activation::relu, Tensor::zeros({2, 3}), 2); });
}

// "same": pads to keep the length, with an odd zero at the end, as in torch.
ConvolutionOptions convolution_of(const Case& example) {
  const auto size = [&](const char* name, double fallback) {
    return static_cast<std::size_t>(number(example, name, fallback));
  };
  ConvolutionOptions options{size("stride", 1), size("dilation", 1), size("groups", 1)};
  const Json* padding = example.options().find("padding");
  if (padding != nullptr && padding->is_number()) {
    options.padding = options.padding_behind = size("padding", 0);
  } else if (padding != nullptr && padding->string() == "same") {
    const std::size_t both = options.dilation * (example.input("weight").dim(2) - 1);
    options.padding = both / 2;
    options.padding_behind = both - both / 2;
  }
  return options;
}

TEST(Functional, Conv1dEqualsTheReference) {
  const Fixture fixture("functional");
  const auto cases = fixture.of_op("conv1d");
  EXPECT_EQ(cases.size(), 30u);
  for (const Case* example : cases) {
    SCOPED_TRACE(example->name());
    const Tensor &x = example->input("input"), &weight = example->input("weight");
    const bool has_bias = example->has_input("bias");
    const TensorView bias = has_bias ? example->input("bias").view() : TensorView();
    const auto terms = static_cast<double>(weight.dim(1) * weight.dim(2));
    std::vector<double> bounds;
    for (const double sum : Numbers(example->output("sum_of_absolute")).values) {
      bounds.push_back(gamma(terms + 2.0) * sum);
    }
    expect_close("output", conv1d(x, weight, has_bias ? &bias : nullptr, convolution_of(*example)),
                 example->output("output"), bounds);
  }
}

TEST(Functional, Conv1dRefusesWhatDoesNotFit) {
  const auto convolve = [](Shape x, Shape weight, ConvolutionOptions options) {
    conv1d(Tensor::zeros(x), Tensor::zeros(weight), nullptr, options);
  };
  expect_error(ErrorCode::shape_mismatch, {"[2, 3, 5]", "[4, 2, 3]"},
               [&] { convolve({2, 3, 5}, {4, 2, 3}, {}); });
  expect_error(ErrorCode::shape_mismatch, {"2 groups", "out a multiple of groups"},
               [&] { convolve({2, 4, 5}, {3, 2, 3}, {.groups = 2}); });
  expect_error(ErrorCode::shape_mismatch, {"3 taps", "2 frames"},
               [&] { convolve({1, 1, 2}, {1, 1, 3}, {}); });
  expect_error(ErrorCode::shape_mismatch, {"3 taps", "dilation 4", "8 frames"},
               [&] { convolve({1, 1, 8}, {1, 1, 3}, {.dilation = 4}); });
  expect_error(ErrorCode::invalid_argument, {"stride 0"},
               [&] { convolve({1, 1, 8}, {1, 1, 3}, {.stride = 0}); });
  expect_error(ErrorCode::invalid_argument, {"dilation 0"},
               [&] { convolve({1, 1, 8}, {1, 1, 3}, {.dilation = 0}); });
  expect_error(ErrorCode::shape_mismatch, {"bias", "[3]"}, [] {
    const Tensor bias = Tensor::zeros({3});
    const TensorView view = bias.view();
    conv1d(Tensor::zeros({1, 1, 4}), Tensor::zeros({2, 1, 3}), &view, {});
  });
}

TEST(Functional, InfinityStaysWhereItIs) {
  Tensor x = Tensor::zeros({1, 1, 4}), weight = Tensor::zeros({1, 1, 1});
  x.f32()[2] = std::numeric_limits<float>::infinity();
  weight.f32()[0] = 2.0f;
  const Tensor out = conv1d(x, weight, nullptr, {});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(std::isinf(out.f32()[i]), i == 2);
}

// As torch, which takes a bias of one axis, and weights of the shape of the normalized axes.
TEST(Functional, WeightsOfAnotherShapeAreRefusedEvenWithAsManyElements) {
  const auto shape = ErrorCode::shape_mismatch;
  const Tensor x = Tensor::zeros({2, 2, 3}), turned = Tensor::zeros({3, 2}),
               flat = Tensor::zeros({6});
  for (const Tensor* weight : {&turned, &flat}) {
    const TensorView view = weight->view();
    const std::vector<std::string> parts = {"weight", view.shape().text(), "[2, 3]"};
    expect_error(shape, parts, [&] { layer_norm(x, 2, &view, nullptr, 1e-5f); });
    expect_error(shape, parts, [&] { rms_norm(x, 2, &view, 1e-5f); });
  }
  const Tensor bias = Tensor::zeros({1, 1});
  const TensorView view = bias.view();
  expect_error(shape, {"conv1d", "bias", "[1, 1]", "[1]"},
               [&] { conv1d(Tensor::zeros({1, 1, 4}), Tensor::zeros({1, 1, 3}), &view, {}); });
}

// Counts of which a loop would not come to an end.
TEST(Functional, OfManyEmptyMatricesNothingIsComputed) {
  constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
  const Tensor none({kMany, 0, 0}), rows({kMany, 1, 0});
  EXPECT_EQ(bmm(none, none).shape(), none.shape());
  EXPECT_EQ(masked_softmax(rows, Mask()).shape(), rows.shape());
}

}  // namespace
}  // namespace clearformer::test
