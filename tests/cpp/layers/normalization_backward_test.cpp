#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/normalization.h"
#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/differences.h"
#include "support/layer_weights.h"

namespace clearformer::test {
namespace {

struct Subject {
  NormKind kind;
  std::size_t features, heads;
  double scale_factor;  // an edit of hook_scale
};

// The norm in double; `parameters` holds x, weights and biases, in this order.
std::vector<double> twin(const Subject& subject, std::size_t rows, bool bias,
                         const std::vector<double>& parameters) {
  const std::size_t features = subject.features,
                    wide = features * std::max<std::size_t>(1, subject.heads);
  const double* weight = parameters.data() + rows * features;
  std::vector<double> out;
  for (std::size_t r = 0; r < rows; ++r) {
    const double* x = parameters.data() + r * features;
    double mean = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < features; ++i) mean += x[i] / static_cast<double>(features);
    if (subject.kind == NormKind::rms) mean = 0.0;
    for (std::size_t i = 0; i < features; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double scale =
        subject.scale_factor * std::sqrt(squares / static_cast<double>(features) + double{1e-5f});
    for (std::size_t i = 0; i < features; ++i) {
      const std::size_t at = (r * features + i) % wide;
      out.push_back((x[i] - mean) / scale * weight[at] + (bias ? weight[wide + at] : 0.0));
    }
  }
  return out;
}

// What forward() computes on the way, with hook_scale edited.
struct Steps {
  Tensor normalized, scale, used_scale;
  Steps(const Normalization& norm, const Tensor& x, float factor) {
    Trace trace;
    trace.capture("*");
    Arena arena;
    Tensor out(x.shape());
    norm.forward(x, out, {arena, TraceScope(&trace)});
    scale = trace.at("hook_scale").clone();
    used_scale = scale.clone();
    normalized = trace.at("hook_normalized").clone();
    for (std::size_t i = 0; i < scale.elements(); ++i) used_scale.f32()[i] *= factor;
    for (std::size_t i = 0; i < x.elements(); ++i) normalized.f32()[i] /= factor;
  }
};

TEST(NormalizationBackward, EqualsDifferencesOfTheTwin) {
  const Subject subjects[] = {{NormKind::layer, 13, 0, 1.0}, {NormKind::layer, 1, 0, 1.0},
                              {NormKind::rms, 13, 0, 1.0},   {NormKind::rms, 4, 3, 1.0},
                              {NormKind::layer, 4, 3, 1.0},  {NormKind::layer, 8, 0, 1.5},
                              {NormKind::rms, 8, 0, 0.5}};
  for (const Subject& subject : subjects) {
    const bool bias = subject.kind == NormKind::layer && subject.heads == 0;
    const std::size_t features = subject.features, heads = std::max<std::size_t>(1, subject.heads);
    const std::size_t rows = 2 * heads, wide = heads * features;
    SCOPED_TRACE(concat(features, " features, ", subject.heads, " heads"));
    LayerWeights weights;
    const Tensor w =
        weights.add("weight", subject.heads == 0 ? Shape{features} : Shape{heads, features});
    const Tensor b = bias ? weights.add("bias", {features}) : Tensor();
    NormConfig config{.kind = subject.kind, .shape = {features}, .bias = bias};
    config.heads = subject.heads;
    const Normalization norm(weights.scope(), config);
    const auto parameters = weights.take_parameters();
    const Tensor x = Random(5).tensor({2, heads, features}, -2, 3);
    const Tensor dout = Random(6).tensor(x.shape());
    std::vector<double> all = doubles_of(x);
    for (const Tensor* each : {&w, &b}) {
      for (const double value : doubles_of(*each)) all.push_back(value);
    }
    const auto expected = differences(
        [&](const std::vector<double>& at) {
          return weighted_sum(twin(subject, rows, bias, at), doubles_of(dout));
        },
        all, 1e-4);

    const Steps steps(norm, x, static_cast<float>(subject.scale_factor));
    Normalization::Kept kept(steps.normalized, steps.scale);
    kept.used_scale = steps.used_scale;
    WeightGradients gradients;
    for (const Parameter& parameter : parameters) gradients.want(parameter);
    Tensor dx = x.clone(), dn(x.shape()), ds(steps.scale.shape());
    norm.backward_weights(kept, dout, dn, &gradients);
    norm.backward_scale(kept, dn, ds);
    // The edit's own: the computed scale is multiplied by the factor.
    for (std::size_t i = 0; i < ds.elements(); ++i) {
      ds.f32()[i] *= static_cast<float>(subject.scale_factor);
    }
    norm.backward_input(kept, dn, ds, dx, Write::onto);
    std::vector<float> found;
    for (std::size_t i = 0; i < x.elements(); ++i) found.push_back(dx.f32()[i] - x.f32()[i]);
    for (const Tensor* each : {&norm.weight(), &norm.bias()}) {
      const float* sums = gradients.of(*each);
      if (sums != nullptr) found.insert(found.end(), sums, sums + each->elements());
    }
    EXPECT_EQ(found.size(), rows * features + wide + (bias ? wide : 0));
    // Sums of `features` or `rows` terms within ±4, divided by scales from 0.5 on; dx is added to numbers within ±3.
    // A single feature has scale 0.003.
    expect_close("gradients", found, expected,
                 Bound{gamma(64) * 16.0, 1e-6, features == 1 ? 1e-3 : 0.0});

    if (subject.scale_factor != 1.0) continue;
    WeightGradients again;
    for (const Parameter& parameter : parameters) again.want(parameter);
    Tensor first;
    for (const std::size_t threads : {1u, 3u}) {
      set_num_threads(threads);
      Arena arena;
      Tensor whole = x.clone();
      norm.backward(kept, dout, whole, Write::onto, &again, arena);
      expect_same_bits("in one call", whole, dx);
    }
    set_num_threads(1);
  }
}

TEST(NormalizationBackward, OfNoNormIsTheGradientItself) {
  LayerWeights weights;
  const Normalization norm(weights.scope(), {.kind = NormKind::none, .shape = {4}});
  const Tensor dout = Random(7).tensor({2, 4});
  Arena arena;
  Tensor dx = dout.clone();
  norm.backward({dout, dout}, dout, dx, Write::onto, nullptr, arena);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(dx.f32()[i], 2.0f * dout.f32()[i]);
  norm.backward({dout, dout}, dout, dx, Write::over, nullptr, arena);
  expect_same_bits("over", dx, dout);
}

// Rows of scale 1e18 and of mean 1e4: n and s are right there, and so is what follows from them.
TEST(NormalizationBackward, HoldsOnHostileRows) {
  LayerWeights weights;
  weights.add("weight", Tensor::zeros({64}));
  const Normalization norm(weights.scope(), {.shape = {64}, .weight = false, .bias = false});
  for (const auto& [low, high] : {std::pair{-1e18f, 1e18f}, {9999.8f, 10000.2f}}) {
    const Tensor x = Random(8).tensor({1, 64}, low, high), dout = Random(9).tensor({1, 64});
    const Steps steps(norm, x, 1.0f);
    Arena arena;
    Tensor dx(x.shape());
    norm.backward({steps.normalized, steps.scale}, dout, dx, Write::over, nullptr, arena);
    const double scale = steps.scale.f32()[0];
    const Subject subject{NormKind::layer, 64, 0, 1.0};
    const auto loss = [&](const std::vector<double>& at) {
      std::vector<double> with_weight = at;
      with_weight.resize(128, 1.0);
      return weighted_sum(twin(subject, 1, false, with_weight), doubles_of(dout));
    };
    auto expected = differences(loss, doubles_of(x), 1e-3 * scale);
    Numbers found(dx);
    for (double& value : found.values) value *= scale;
    for (double& value : expected) value *= scale;
    found.shape = {64};
    expect_close("dx · scale", found, expected, Bound{2e-6});
  }
}

}  // namespace
}  // namespace clearformer::test
