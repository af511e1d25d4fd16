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
  const auto flat = [](const WeightRows& rows) {
    std::vector<float> values(rows.outputs() * rows.inputs());
    for (std::size_t n = 0; n < rows.outputs(); ++n) {
      rows.copy_row(n, values.data() + n * rows.inputs());
    }
    return values;
  };
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

}  // namespace
}  // namespace clearformer::test
