#include "clearformer/layers/normalization.h"

#include <gtest/gtest.h>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/layer_weights.h"
#include "support/naive_kernels.h"

namespace clearformer::test {
namespace {

struct Parts {
  NormKind kind;
  bool weight, bias;
};

class Norm : public ::testing::TestWithParam<Parts> {
 protected:
  static constexpr std::size_t kFeatures = 13;

  NormConfig config() const {
    return {GetParam().kind, Shape{kFeatures}, 1e-5f, GetParam().weight, GetParam().bias};
  }
  static naive::Normalized twin(const Tensor& x) {
    const std::vector<float> values(x.f32(), x.f32() + x.elements());
    return GetParam().kind == NormKind::layer ? naive::layer_norm(values, kFeatures, double{1e-5f})
                                              : naive::rms_norm(values, kFeatures, double{1e-5f});
  }
  void load() {
    if (GetParam().weight) weight = weights.add("weight", {kFeatures});
    if (GetParam().bias) bias = weights.add("bias", {kFeatures});
  }

  LayerWeights weights;
  Tensor weight, bias;
};

TEST_P(Norm, EqualsTheFormulaAndShowsItsSteps) {
  load();
  const Normalization norm(weights.scope(), config());
  weights.check();
  const Tensor x = Random(2).tensor({2, 3, kFeatures}, -2, 3);
  const auto steps = twin(x);
  Trace trace;
  trace.capture("*");
  Arena arena;
  Tensor out(x.shape());
  norm.forward(x, out, {arena, TraceScope(&trace, "ln")});
  std::vector<double> expected = steps.normalized;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!weight.empty()) expected[i] *= weight.f32()[i % kFeatures];
    if (!bias.empty()) expected[i] += bias.f32()[i % kFeatures];
  }
  // Normalized rows are below sqrt(13) in magnitude and within γ(8) (see kernels/norm_test.cpp).
  const Bound bound{gamma(10) * 4.0};
  const auto shaped = [](std::vector<double> values, Shape shape) {
    Numbers numbers(values);
    numbers.shape = shape;
    return numbers;
  };
  expect_close("out", out, shaped(expected, x.shape()), bound);
  expect_close("hook_scale", trace.at("ln.hook_scale"), shaped(steps.scale, {2, 3, 1}), bound);
  expect_close("hook_normalized", trace.at("ln.hook_normalized"),
               shaped(steps.normalized, x.shape()), bound);
  EXPECT_EQ(trace.captured().size(), 2u);
}

TEST_P(Norm, WorksInPlace) {
  load();
  const Normalization norm(weights.scope(), config());
  Tensor x = Random(3).tensor({4, kFeatures});
  Arena arena;
  Tensor out(x.shape());
  norm.forward(x, out, {arena, TraceScope()});
  norm.forward(x, x, {arena, TraceScope()});
  expect_same_bits("in place", x, out);
}

TEST_P(Norm, AnEditedScaleIsWhatRowsAreDividedBy) {
  load();
  const Normalization norm(weights.scope(), config());
  const Tensor x = Random(4).tensor({2, kFeatures});
  Trace trace;
  trace.capture("hook_normalized");
  trace.edit("hook_scale", [](std::string_view, MutableTensorView scale) {
    for (std::size_t i = 0; i < scale.elements(); ++i) scale.f32()[i] = 2.0f;
  });
  Arena arena;
  Tensor out(x.shape());
  norm.forward(x, out, {arena, TraceScope(&trace)});
  const auto centered = twin(x).centered;
  for (std::size_t i = 0; i < centered.size(); ++i) {
    EXPECT_NEAR(trace.at("hook_normalized").f32()[i], centered[i] / 2.0, 1e-6);
  }
}

TEST_P(Norm, InputsOfAnotherWidthAreRefused) {
  load();
  const Normalization norm(weights.scope(), config());
  Arena arena;
  Tensor out({2, 12});
  expect_error(ErrorCode::shape_mismatch, {"normalization", "[2, 12]", "13"},
               [&] { norm.forward(Tensor::zeros({2, 12}), out, {arena, TraceScope()}); });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Norm,
                         ::testing::Values(Parts{NormKind::layer, true, true},
                                           Parts{NormKind::layer, true, false},
                                           Parts{NormKind::layer, false, false},
                                           Parts{NormKind::rms, true, false},
                                           Parts{NormKind::rms, false, false}),
                         [](const auto& parts) {
                           const Parts& of = parts.param;
                           return concat(of.kind == NormKind::layer ? "layer" : "rms",
                                         of.weight ? "_weight" : "", of.bias ? "_bias" : "");
                         });

}  // namespace
}  // namespace clearformer::test
