#include "clearformer/layers/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/linear.h"
#include "clearformer/layers/normalization.h"
#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/layer_weights.h"

namespace clearformer::test {
namespace {

double number_option(const Case& example, const char* name, double fallback) {
  const Json* value = example.options().find(name);
  return value == nullptr || value->is_null() ? fallback : value->number();
}

std::unique_ptr<Optimizer> optimizer_of(const Case& example,
                                        const std::vector<Parameter>& parameters) {
  const auto number = [&](const char* name, double fallback) {
    return number_option(example, name, fallback);
  };
  if (example.op() == "AdamW") {
    return std::make_unique<AdamW>(
        parameters, AdamWOptions{number("lr", 0), number("beta1", 0), number("beta2", 0),
                                 number("eps", 0), number("weight_decay", 0)});
  }
  const Json* nesterov = example.options().find("nesterov");
  return std::make_unique<Sgd>(
      parameters, SgdOptions{number("lr", 0), number("momentum", 0), number("dampening", 0),
                             number("weight_decay", 0), nesterov && nesterov->boolean()});
}

Schedule schedule_of(const Case& example, std::size_t warmup, std::size_t steps) {
  const Json* name = example.options().find("schedule");
  const bool given = name != nullptr && !name->is_null();
  const std::string kind = given ? name->string() : "constant";
  return {kind == "linear"   ? Schedule::Kind::linear
          : kind == "cosine" ? Schedule::Kind::cosine
                             : Schedule::Kind::constant,
          given ? warmup : 0, steps};
}

// A packed weight and a vector, of which the loss of gradients_optimizers.py is taken.
struct Trained {
  LayerWeights weights;
  std::shared_ptr<kernels::PackedMatrix> matrix;
  Tensor vector;
  std::vector<Parameter> parameters;

  explicit Trained(const Case& example) {
    weights.add("matrix", example.input("matrix_w").clone());
    weights.add("vector", example.input("vector_w").clone());
    matrix = take_packed(weights.scope(), "matrix", {5, 19}, MatrixRole::projection);
    vector = weights.scope().take("vector", {7});
    parameters = weights.take_parameters();
  }

  std::vector<float> numbers(std::size_t of) const {
    const WeightRows& rows = *parameters[of].rows;
    std::vector<float> all(rows.outputs() * rows.inputs());
    for (std::size_t n = 0; n < rows.outputs(); ++n) {
      rows.copy_row(n, all.data() + n * rows.inputs());
    }
    return all;
  }

  void set_gradients(const Case& example, WeightGradients& gradients) const {
    gradients.clear();
    for (const std::size_t of : {0u, 1u}) {
      const std::string part = of == 0 ? "matrix" : "vector";
      const float* t = example.input(part + "_t").f32();
      const float* c = example.input(part + "_c").f32();
      std::vector<float> d = numbers(of);
      for (std::size_t i = 0; i < d.size(); ++i) {
        d[i] = static_cast<float>(double{c[i]} * (double{d[i]} - t[i]) + std::cos(double{d[i]}));
      }
      const auto rows = gradients.rows(parameters[of]);
      for (std::size_t n = 0; n < rows->outputs(); ++n) {
        rows->set_row(n, d.data() + n * rows->inputs());
      }
    }
  }
};

// 200 steps, compared with torch's in float64 after the first and the last.
std::vector<float> expect_trajectory(const Case& example) {
  SCOPED_TRACE(example.name());
  Trained trained(example);
  WeightGradients gradients;
  for (const Parameter& parameter : trained.parameters) gradients.want(parameter);
  const auto optimizer = optimizer_of(example, trained.parameters);
  const Schedule schedule = schedule_of(example, 10, 250);
  const double rate = optimizer->learning_rate, clip = number_option(example, "max_norm", 0.0);
  for (std::size_t step = 0; step < 200; ++step) {
    trained.set_gradients(example, gradients);
    const double norm = clip > 0.0 ? optimizer->clip_grad_norm(gradients, clip) : 0.0;
    optimizer->learning_rate = rate * schedule.factor(step);
    optimizer->step(gradients);
    if (step != 0 && step != 199) continue;
    const std::string suffix = concat("_", step + 1);
    for (const std::size_t of : {0u, 1u}) {
      const Tensor& expected = example.output((of == 0 ? "matrix" : "vector") + suffix);
      const std::vector<float> flat(expected.f32(), expected.f32() + expected.elements());
      expect_close(suffix, trained.numbers(of), flat, Bound{1e-5});
    }
    if (clip == 0.0) continue;
    EXPECT_NEAR(norm, example.output("norm" + suffix).f32()[0], 1e-4);
  }
  auto all = trained.numbers(0);
  for (const float value : trained.numbers(1)) all.push_back(value);
  return all;
}

TEST(Optimizer, TwoHundredStepsEqualTorchsWithTheSameBitsForAnyThreads) {
  const Fixture fixture("gradients_optimizers");
  for (const Case& example : fixture.cases()) {
    if (example.op() == "schedule") continue;
    const auto alone = expect_trajectory(example);
    for (const std::size_t threads : {2u, 4u}) {
      set_num_threads(threads);
      expect_same_bits("by threads", expect_trajectory(example), alone);
    }
    set_num_threads(1);
  }
}

TEST(Optimizer, LearningRatesAreThoseOfTransformersSchedules) {
  const Fixture fixture("gradients_optimizers");
  for (const Case* example : fixture.of_op("schedule")) {
    SCOPED_TRACE(example->name());
    const Schedule schedule = schedule_of(*example, 4, 20);
    const Tensor& factors = example->output("factors");
    for (std::size_t step = 0; step < factors.elements(); ++step) {
      EXPECT_NEAR(schedule.factor(step), factors.f32()[step], 1e-7) << "step " << step;
    }
  }
}

// A stored weight beside the one the layer computes with, and a tied one: both are stepped once.
TEST(Optimizer, ChangesWhatLayersComputeWithAndTiedWeightsOnce) {
  LayerWeights weights;
  weights.add("weight", {4});
  const Normalization norm(
      weights.scope(), {.kind = NormKind::rms, .shape = {4}, .bias = false, .weight_offset = 1.0f});
  auto parameters = weights.take_parameters();
  parameters.push_back(parameters.front());
  WeightGradients gradients;
  gradients.want(parameters.front());
  std::fill_n(gradients.of(norm.weight()), 4, 2.0f);
  std::vector<float> before(4), after(4);
  for (std::size_t i = 0; i < 4; ++i) parameters.front().rows->copy_row(i, &before[i]);
  Sgd sgd(parameters, {.learning_rate = 0.25});
  sgd.step(gradients);
  EXPECT_EQ(sgd.bytes(), 0u);
  for (std::size_t i = 0; i < 4; ++i) {
    parameters.front().rows->copy_row(i, &after[i]);
    EXPECT_EQ(after[i], before[i] - 0.5f);
    EXPECT_EQ(norm.weight().f32()[i], after[i] + 1.0f);
  }
}

// As torch, which has no gradient of weights that a pass did not reach: neither decay nor momentum changes them.
TEST(Optimizer, LeavesWeightsThatNoPassReached) {
  LayerWeights weights;
  weights.add("matrix", {5, 7});
  weights.add("vector", {7});
  const auto matrix = take_packed(weights.scope(), "matrix", {5, 7}, MatrixRole::projection);
  const Tensor vector = weights.scope().take("vector", {7});
  const auto parameters = weights.take_parameters();
  WeightGradients gradients;
  for (const Parameter& parameter : parameters) gradients.want(parameter);
  Sgd sgd(parameters, {.learning_rate = 0.25, .momentum = 0.5, .weight_decay = 0.5});
  const auto first = [&](std::size_t of) {
    std::vector<float> row(7);
    parameters[of].rows->copy_row(0, row.data());
    return row.front();
  };
  const float of_matrix = first(0), of_vector = first(1);
  gradients.begin_pass();
  sgd.clip_grad_norm(gradients, 1.0);
  sgd.step(gradients);
  EXPECT_EQ(first(0), of_matrix);
  EXPECT_EQ(first(1), of_vector);
  // A gradient of zeros is one: w ← w - 0.25 · 0.5 · w.
  gradients.of(*matrix);
  sgd.step(gradients);
  EXPECT_FLOAT_EQ(first(0), 0.875f * of_matrix);
  EXPECT_EQ(first(1), of_vector);
  gradients.begin_pass();
  gradients.of(vector);
  const float before = first(0);
  sgd.step(gradients);
  EXPECT_EQ(first(0), before);
  EXPECT_FLOAT_EQ(first(1), 0.875f * of_vector);
}

TEST(Optimizer, RefusesWhatItCannotStep) {
  LayerWeights weights;
  weights.add("weight", {5, 7});
  auto parameters = [&] {
    take_packed(weights.scope(), "weight", {5, 7}, MatrixRole::projection);
    return weights.take_parameters();
  }();
  Parameter half = parameters.front();
  half.rows = std::make_shared<kernels::PackedMatrix>(
      Matrix::of(Random(1).tensor({5, 7}), MatrixFormat::f16));
  expect_error(ErrorCode::unsupported, {"optimiser", "\"weight\"", "fp16", "fp32"},
               [&] { AdamW({half}); });
  expect_error(ErrorCode::invalid_argument, {"optimiser", "beta1", "1.5"},
               [&] { AdamW(parameters, {.beta1 = 1.5}); });
  expect_error(ErrorCode::invalid_argument, {"nesterov", "momentum"},
               [&] { Sgd(parameters, {.nesterov = true}); });
  expect_error(ErrorCode::invalid_argument, {"max_norm"},
               [&] { Sgd({}).clip_grad_norm(WeightGradients(), -1.0); });
  EXPECT_EQ(Sgd({}).clip_grad_norm(WeightGradients(), 0.0), 0.0);
}

}  // namespace
}  // namespace clearformer::test
