#include "clearformer/layers/feed_forward.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/closeness.h"
#include "support/layer_weights.h"
#include "support/naive_kernels.h"
#include "support/naive_layers.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kModel = 10, kHidden = 13;
constexpr float kRange = 0.3f;  // of inputs and weights

double twin_of(Activation activation, double x) {
  switch (activation) {
    case Activation::relu: return naive::relu(x);
    case Activation::silu: return naive::silu(x);
    case Activation::gelu_erf: return naive::gelu_erf(x);
    case Activation::gelu_tanh: return naive::gelu_tanh(x);
    case Activation::quick_gelu: return naive::quick_gelu(x);
    case Activation::tanh: return std::tanh(x);
    case Activation::linear: return x;
    case Activation::sigmoid: return naive::sigmoid(x);
    case Activation::softplus: return naive::softplus(x);
    case Activation::sqrt_softplus: return std::sqrt(naive::softplus(x));
    case Activation::erf: return std::erf(x);
    case Activation::laplace: return naive::laplace(x);
    case Activation::mish: return naive::mish(x);
    case Activation::relu_squared: return naive::relu_squared(x);
    case Activation::relu6: return std::min(naive::relu(x), 6.0);
    case Activation::leaky_relu: return x < 0.0 ? 0.01 * x : x;
    case Activation::hard_swish: return naive::hard_swish(x);
    case Activation::clipped_gelu: return std::min(naive::gelu_erf(x), 10.0);
  }
  return 0.0;
}

struct Variant {
  Activation activation;
  Gate gate;
  Bias bias;
};

class FeedForwardOf : public ::testing::TestWithParam<Variant> {};

TEST_P(FeedForwardOf, EqualsTheNaiveTwinAndShowsItsSteps) {
  const auto [activation, gate, bias] = GetParam();
  LayerWeights weights;
  const auto module = [&, bias = bias](const std::string& name, std::size_t out, std::size_t in) {
    return std::pair(
        weights.add(name + ".weight", {out, in}, -kRange, kRange),
        bias == Bias::present ? weights.add(name + ".bias", {out}, -kRange, kRange) : Tensor());
  };
  const auto up = module("up_proj", kHidden, kModel), down = module("down_proj", kModel, kHidden);
  std::pair<Tensor, Tensor> gated;
  if (gate == Gate::present) gated = module("gate_proj", kHidden, kModel);
  const FeedForward feed_forward(weights.scope(), {kModel, kHidden, activation, gate, bias});
  weights.check();

  const Tensor x = Random(2).tensor({2, 3, kModel}, -kRange, kRange);
  const auto linear = naive::linear(Numbers(x).values, up.first, up.second);
  auto pre =
      gate == Gate::present ? naive::linear(Numbers(x).values, gated.first, gated.second) : linear;
  std::vector<double> post;
  for (std::size_t i = 0; i < pre.size(); ++i) {
    post.push_back(twin_of(activation, pre[i]) * (gate == Gate::present ? linear[i] : 1.0));
  }
  Trace trace;
  trace.capture("*");
  Arena arena;
  Tensor out(x.shape());
  feed_forward.forward(x, out, {arena, TraceScope(&trace)});
  // |pre| and |linear| are at most 10·0.09 + 0.3 = 1.2 and within γ(11)·1.2. Through the activation
  // (slope at most 2.4, some roundings of its own) and the product that makes γ(13)·4 at most; the
  // last sum has thirteen of these times 0.3, and rounds fourteen times itself.
  const Bound inner{gamma(11) * 1.2}, middle{gamma(13) * 4.0}, outer{gamma(14) * 13.0 * 0.3 * 6.0};
  const auto shaped = [](std::vector<double> values, std::size_t width) {
    Numbers numbers(values);
    numbers.shape = {2, 3, width};
    return numbers;
  };
  expect_close("hook_pre", trace.at("hook_pre"), shaped(pre, kHidden), inner);
  expect_close("hook_post", trace.at("hook_post"), shaped(post, kHidden), middle);
  if (gate == Gate::present) {
    expect_close("hook_pre_linear", trace.at("hook_pre_linear"), shaped(linear, kHidden), inner);
  }
  EXPECT_EQ(trace.captured().size(), gate == Gate::present ? 3u : 2u);
  Tensor unseen(x.shape());
  feed_forward.forward(x, unseen, {arena, TraceScope(nullptr)});
  expect_same_bits("without a trace", unseen, out);
  expect_close("out", out, shaped(naive::linear(post, down.first, down.second), kModel), outer);
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Activation activation :
       {Activation::relu, Activation::silu, Activation::gelu_erf, Activation::gelu_tanh,
        Activation::quick_gelu, Activation::tanh, Activation::linear, Activation::sigmoid,
        Activation::softplus, Activation::sqrt_softplus, Activation::erf, Activation::laplace,
        Activation::mish, Activation::relu_squared, Activation::relu6, Activation::leaky_relu,
        Activation::hard_swish, Activation::clipped_gelu}) {
    for (const Gate gate : {Gate::none, Gate::present}) {
      for (const Bias bias : {Bias::none, Bias::present}) all.push_back({activation, gate, bias});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Variants, FeedForwardOf, ::testing::ValuesIn(variants()));

TEST(FeedForward, AnEditedHiddenValueReachesTheOutput) {
  LayerWeights weights;
  weights.add("up_proj.weight", {kHidden, kModel});
  const Tensor down = weights.add("down_proj.weight", {kModel, kHidden});
  const FeedForward feed_forward(weights.scope(),
                                 {kModel, kHidden, Activation::relu, Gate::none, Bias::none});
  Trace trace;
  trace.edit("hook_post", [](std::string_view, MutableTensorView hidden) {
    for (std::size_t i = 0; i < hidden.elements(); ++i)
      hidden.f32()[i] = i % kHidden == 4 ? 1.0f : 0.0f;
  });
  Arena arena;
  Tensor out({1, 2, kModel});
  feed_forward.forward(Random(3).tensor({1, 2, kModel}), out, {arena, TraceScope(&trace)});
  for (std::size_t i = 0; i < out.elements(); ++i) {
    EXPECT_EQ(out.f32()[i], down.f32()[i % kModel * kHidden + 4]);
  }
}

// transformers 5.12, activations.py: ACT2FN.
TEST(ActivationNamed, KnowsUpstreamsNames) {
  const std::pair<const char*, Activation> names[] = {
      {"gelu", Activation::gelu_erf},
      {"gelu_10", Activation::clipped_gelu},
      {"gelu_fast", Activation::gelu_tanh},
      {"gelu_new", Activation::gelu_tanh},
      {"gelu_python", Activation::gelu_erf},
      {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_python_tanh", Activation::gelu_tanh},
      {"gelu_accurate", Activation::gelu_tanh},
      {"hardswish", Activation::hard_swish},
      {"laplace", Activation::laplace},
      {"leaky_relu", Activation::leaky_relu},
      {"linear", Activation::linear},
      {"mish", Activation::mish},
      {"quick_gelu", Activation::quick_gelu},
      {"relu", Activation::relu},
      {"relu2", Activation::relu_squared},
      {"relu6", Activation::relu6},
      {"sigmoid", Activation::sigmoid},
      {"silu", Activation::silu},
      {"sqrtsoftplus", Activation::sqrt_softplus},
      {"swish", Activation::silu},
      {"tanh", Activation::tanh},
  };
  for (const auto& [name, activation] : names) {
    EXPECT_EQ(activation_named(name), activation) << name;
    EXPECT_EQ(elementwise_named(name), activation) << name;
  }
  for (const char* name : {"GELU", "", "prelu", "xielu", "erf", "softplus"}) {
    EXPECT_EQ(activation_named(name), std::nullopt) << name;
  }
  EXPECT_EQ(elementwise_named("erf"), Activation::erf);
  EXPECT_EQ(elementwise_named("softplus"), Activation::softplus);
  EXPECT_EQ(elementwise_named("GELU"), std::nullopt);
}

}  // namespace
}  // namespace clearformer::test
