#include <gtest/gtest.h>

#include "clearformer/layers/linear.h"
#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/layer_weights.h"

namespace clearformer::test {
namespace {

struct Expected {
  Numbers values;
  std::vector<double> bounds;
};

// dx = dy·W + before, of the weight as it is unpacked.
Expected naive_dx(const kernels::PackedMatrix& weight, const Tensor& dy, const Tensor& before) {
  const std::size_t rows = dy.dim(0), outputs = weight.outputs(), inputs = weight.inputs();
  std::vector<double> dx(rows * inputs), bounds(rows * inputs);
  std::vector<float> of(inputs);
  for (std::size_t i = 0; i < dx.size() && !before.empty(); ++i) {
    dx[i] = before.f32()[i];
    bounds[i] = std::abs(dx[i]);
  }
  for (std::size_t n = 0; n < outputs; ++n) {
    weight.copy_row(n, of.data());
    for (std::size_t i = 0; i < dx.size(); ++i) {
      const double term = double{dy.f32()[i / inputs * outputs + n]} * of[i % inputs];
      dx[i] += term;
      bounds[i] += std::abs(term);
    }
  }
  for (double& bound : bounds) bound *= gamma(static_cast<double>(outputs) + 2.0);
  Numbers values(dx);
  values.shape = {rows, inputs};
  return {std::move(values), std::move(bounds)};
}

TEST(LinearBackward, GradientsOfInputsAreProductsWithTheTransposedWeightInEveryFormat) {
  Random random(1);
  const std::size_t sizes[][3] = {{1, 1, 1},     {2, 3, 5}, {7, 37, 70},    {13, 64, 64},
                                  {5, 1100, 33}, {3, 1, 4}, {30, 129, 130}, {4, 70, 700}};
  for (const auto& [rows, outputs, inputs] : sizes) {
    for (const MatrixFormat format : {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8,
                                      MatrixFormat::q8_fine, MatrixFormat::q4}) {
      SCOPED_TRACE(concat(rows, "×", outputs, "×", inputs, " ", to_string(format)));
      const kernels::PackedMatrix weight(Matrix::of(random.tensor({outputs, inputs}), format));
      const Tensor dy = random.tensor({rows, outputs}), before = random.tensor({rows, inputs});
      for (const bool onto : {false, true}) {
        const Expected expected = naive_dx(weight, dy, onto ? before.clone() : Tensor());
        Tensor first;
        for (const std::size_t threads : {1u, 2u, 4u}) {
          set_num_threads(threads);
          Arena arena;
          Tensor dx = before.clone();
          weight.multiply_transposed(dy.f32(), dx.f32(), rows, onto ? dx.f32() : nullptr, arena);
          expect_close("dx", dx, expected.values, expected.bounds);
          if (first.empty()) first = dx.clone();
          expect_same_bits(concat(threads, " threads"), dx, first);
        }
        set_num_threads(1);
      }
    }
  }
}

std::vector<float> flat(const WeightRows& rows) {
  std::vector<float> values(rows.outputs() * rows.inputs());
  for (std::size_t n = 0; n < rows.outputs(); ++n) {
    rows.copy_row(n, values.data() + n * rows.inputs());
  }
  return values;
}

TEST(LinearBackward, GivesWhatIsWanted) {
  LayerWeights weights;
  weights.add("weight", {5, 3});
  weights.add("bias", {5});
  const Linear linear(weights.scope(), 3, 5, Bias::present);
  const auto parameters = weights.take_parameters();
  const Tensor x = Random(2).tensor({2, 4, 3}), dy = Random(3).tensor({2, 4, 5});
  Arena arena;
  WeightGradients all, of_bias;
  for (const Parameter& parameter : parameters) all.want(parameter);
  of_bias.want(parameters.at(1));
  Tensor dx({2, 4, 3});
  linear.backward(x, dy, dx, Write::over, &all, arena);
  linear.backward(TensorView(), dy, MutableTensorView(), Write::over, &of_bias, arena);
  linear.backward(TensorView(), dy, dx, Write::onto, nullptr, arena);
  std::vector<double> bias(5), weight(15), input(24);
  std::vector<float> row(3);
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::size_t n = 0; n < 5; ++n) {
      const double by = dy.f32()[r * 5 + n];
      bias[n] += by;
      linear.unpack_row(n, row.data());
      for (std::size_t k = 0; k < 3; ++k) {
        weight[n * 3 + k] += by * x.f32()[r * 3 + k];
        input[r * 3 + k] += 2.0 * by * row[k];  // over, then onto
      }
    }
  }
  const Bound bound{gamma(12) * 8.0};
  expect_close("dx", std::vector<float>(dx.f32(), dx.f32() + 24), input, bound);
  expect_close("weight", flat(*all.rows(parameters.at(0))), weight, bound);
  expect_close("bias", flat(*all.rows(parameters.at(1))), bias, bound);
  expect_close("bias alone", flat(*of_bias.rows(parameters.at(1))), bias, bound);
  expect_error(ErrorCode::shape_mismatch, {"linear", "gradient of the output", "[2, 4, 3]", "5"},
               [&] { linear.backward(x, x, dx, Write::over, nullptr, arena); });
  expect_error(ErrorCode::shape_mismatch, {"linear", "gradient of the input", "[2, 4, 5]", "3"},
               [&] {
                 Tensor wrong({2, 4, 5});
                 linear.backward(x, dy, wrong, Write::over, nullptr, arena);
               });
}

Parameter parameter_of(std::shared_ptr<kernels::PackedMatrix> matrix) {
  const Shape shape{matrix->outputs(), matrix->inputs()};
  return {.path = "", .stored = {}, .stored_shape = shape, .rows = std::move(matrix)};
}

// dx = dy·(W + Σ s·B·A), dA = s·(dy·B)ᵀ·x, dB = s·dyᵀ·(x·Aᵀ)
TEST(LinearBackward, OfLowRankUpdatesIsThatOfTheirProducts) {
  constexpr std::size_t kRows = 6, kOutputs = 5, kInputs = 7;
  const struct {
    std::size_t rank;
    float scale;
  } updates[] = {{2, 0.75f}, {3, -2.0f}};
  LayerWeights weights;
  weights.add("weight", {kOutputs, kInputs});
  const Linear linear(weights.scope(), kInputs, kOutputs, Bias::none);
  LowRankUpdates& place = *weights.take_parameters().at(0).updates;
  Random random(4);
  const Tensor x = random.tensor({kRows, kInputs}), dy = random.tensor({kRows, kOutputs});
  std::vector<Tensor> downs, ups;
  std::vector<Parameter> parameters;
  WeightGradients all, of_downs;
  for (const auto& [rank, scale] : updates) {
    downs.push_back(random.tensor({rank, kInputs}));
    ups.push_back(random.tensor({kOutputs, rank}));
    const auto down = std::make_shared<kernels::PackedMatrix>(downs.back().clone());
    const auto up = std::make_shared<kernels::PackedMatrix>(ups.back().clone());
    place.add({down, up, scale});
    parameters.push_back(parameter_of(down));
    parameters.push_back(parameter_of(up));
    of_downs.want(parameters[parameters.size() - 2]);
  }
  place.put_in_force();
  for (const Parameter& parameter : parameters) all.want(parameter);

  Arena arena;
  Tensor dx({kRows, kInputs}), again = dx.clone();
  linear.backward(x, dy, dx, Write::over, &all, arena);
  linear.backward(TensorView(), dy, again, Write::over, nullptr, arena);
  linear.backward(x, dy, MutableTensorView(), Write::over, &of_downs, arena);

  std::vector<double> input(kRows * kInputs);
  std::vector<float> row(kInputs);
  for (std::size_t n = 0; n < kOutputs; ++n) {
    linear.unpack_row(n, row.data());
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] += double{dy.f32()[i / kInputs * kOutputs + n]} * row[i % kInputs];
    }
  }
  // The sizes of the terms of a sum add up to at most 6 · 7 · 2 (those of B); each is rounded fewer than 16 times.
  const Bound bound{gamma(16) * 84.0};
  expect_close("dx", std::vector<float>(dx.f32(), dx.f32() + input.size()), input, bound);
  expect_same_bits("dx without gradients of weights", again, dx);
  for (std::size_t u = 0; u < std::size(updates); ++u) {
    SCOPED_TRACE(u);
    const auto [rank, scale] = updates[u];
    std::vector<double> down(rank * kInputs), up(kOutputs * rank);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t n = 0; n < kOutputs; ++n) {
        for (std::size_t k = 0; k < rank; ++k) {
          for (std::size_t i = 0; i < kInputs; ++i) {
            const double by = double{scale} * dy.f32()[r * kOutputs + n] * x.f32()[r * kInputs + i];
            down[k * kInputs + i] += by * ups[u].f32()[n * rank + k];
            up[n * rank + k] += by * downs[u].f32()[k * kInputs + i];
          }
        }
      }
    }
    expect_close("A", flat(*all.rows(parameters[2 * u])), down, bound);
    expect_close("B", flat(*all.rows(parameters[2 * u + 1])), up, bound);
    expect_close("A alone", flat(*of_downs.rows(parameters[2 * u])), down, bound);
  }
}

}  // namespace
}  // namespace clearformer::test
