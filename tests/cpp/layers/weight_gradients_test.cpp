#include "clearformer/layers/weight_gradients.h"

#include <gtest/gtest.h>

#include "clearformer/kernels/matmul.h"
#include "clearformer/layers/linear.h"
#include "clearformer/layers/normalization.h"
#include "clearformer/layers/optimizer.h"
#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/layer_weights.h"

namespace clearformer::test {
namespace {

std::vector<float> row_of(const WeightRows& rows, std::size_t output) {
  std::vector<float> row(rows.inputs());
  rows.copy_row(output, row.data());
  return row;
}

TEST(WeightGradients, AreThoseOfTheWantedWeightsWhicheverLayerHoldsThem) {
  LayerWeights weights;
  weights.add("weight", {19, 7});
  weights.add("bias", {19});
  weights.add("other", {3, 7});
  const WeightScope scope = weights.scope();
  const auto table = take_packed(scope, "weight", {19, 7}, MatrixRole::projection);
  const Tensor bias = scope.take_flat("bias", {19});
  const auto other = take_packed(scope, "other", {3, 7}, MatrixRole::projection);
  const auto parameters = weights.take_parameters();
  WeightGradients gradients;
  EXPECT_FALSE(gradients.any());
  gradients.want(parameters.at(0));
  gradients.want(parameters.at(1));
  gradients.want(parameters.at(0));
  EXPECT_TRUE(gradients.any());
  EXPECT_EQ(gradients.of(*other), nullptr);
  EXPECT_EQ(gradients.rows(parameters.at(2)), nullptr);
  EXPECT_EQ(gradients.of(Tensor()), nullptr);
  const std::size_t panels = (19 + kernels::panel_width() - 1) / kernels::panel_width();
  EXPECT_EQ(gradients.bytes(), 4 * (panels * kernels::panel_width() * 7 + 19));

  EXPECT_TRUE(gradients.reached(parameters.at(0)));
  gradients.begin_pass();
  for (const Parameter& parameter : parameters) EXPECT_FALSE(gradients.reached(parameter));
  WeightGradients later;
  later.begin_pass();
  later.want(parameters.at(0));
  EXPECT_FALSE(later.reached(parameters.at(0)));

  // What is added is read as rows of the weight, and by whoever shares it.
  const std::vector<float> row{1, 2, 3, 4, 5, 6, 7};
  gradients.of(*table)->add_to_row(18, row.data());
  gradients.of(*table)->add_to_row(18, row.data(), 5, 7);
  gradients.of(bias)[4] += 2.5f;
  const auto of_table = gradients.rows(parameters.at(0));
  const auto of_bias = gradients.rows(parameters.at(1));
  EXPECT_TRUE(gradients.reached(parameters.at(0)));
  EXPECT_TRUE(gradients.reached(parameters.at(1)));
  EXPECT_FALSE(gradients.reached(parameters.at(2)));
  ASSERT_EQ(of_table->outputs(), 19u);
  expect_same_bits("row", row_of(*of_table, 18), {1, 2, 3, 4, 5, 7, 9});
  expect_same_bits("another", row_of(*of_table, 17), std::vector<float>(7));
  ASSERT_EQ(of_bias->outputs(), 19u);
  expect_same_bits("bias", row_of(*of_bias, 4), {2.5f});
  of_table->set_row(2, row.data());
  expect_same_bits("set", row_of(*gradients.of(*table), 2), row);
  gradients.clear();
  expect_same_bits("cleared", row_of(*of_table, 18), std::vector<float>(7));
  expect_same_bits("cleared", row_of(*of_bias, 4), {0.0f});
  gradients.begin_pass();
  gradients.of(bias);
  EXPECT_FALSE(gradients.reached(parameters.at(0)));
  EXPECT_TRUE(gradients.reached(parameters.at(1)));
}

// Weights that are stored apart and used together have one gradient, of which each reads its part.
TEST(WeightGradients, PartsOfAWeightReadTheirPartOfTheGradient) {
  LayerWeights weights;
  weights.add("0.weight", {4});
  weights.add("1.weight", {4});
  const Normalization norm(
      weights.scope(),
      {.kind = NormKind::layer, .shape = {4}, .bias = false, .heads = 2, .heads_apart = true});
  const auto parameters = weights.take_parameters();
  ASSERT_EQ(parameters.size(), 2u);
  WeightGradients gradients;
  for (const Parameter& parameter : parameters) gradients.want(parameter);
  EXPECT_EQ(gradients.bytes(), 4 * 8u);
  float* sums = gradients.of(norm.weight());
  ASSERT_NE(sums, nullptr);
  for (std::size_t i = 0; i < 8; ++i) sums[i] = static_cast<float>(i);
  const auto second = gradients.rows(parameters.at(1));
  ASSERT_EQ(second->outputs() * second->inputs(), 4u);
  expect_same_bits("the second head's first", row_of(*second, 0), {4.0f});
  expect_same_bits("and last", row_of(*second, 3), {7.0f});

  // Who trains only the second leaves the first out of what is clipped.
  for (std::size_t i = 0; i < 8; ++i) sums[i] = i < 4 ? 1e6f : 2.0f;
  EXPECT_EQ(Sgd({parameters.at(1)}).clip_grad_norm(gradients, 2.0), 4.0);
  expect_same_bits("the first", row_of(*gradients.rows(parameters.at(0)), 0), {1e6f});
  EXPECT_NEAR(row_of(*second, 0)[0], 1.0, 1e-5);
}

// += dyᵀ·x against plain loops in double: rows in blocks, onto what is there.
TEST(WeightGradients, OuterProductsAddUpInBlocksOfRowsWithTheSameBitsForAnyThreads) {
  Random random(4);
  for (const std::size_t rows :
       {std::size_t{1}, std::size_t{9}, kernels::PanelGradient::kRows + 3}) {
    for (const std::size_t outputs : {0u, 1u, 37u, 300u}) {
      SCOPED_TRACE(concat(rows, " rows, ", outputs, " outputs"));
      const std::size_t inputs = rows == 9 ? 133 : 5;
      const auto dy = random.list(rows * outputs), x = random.list(rows * inputs);
      std::vector<float> first;
      for (const std::size_t threads : {1u, 2u, 4u}) {
        set_num_threads(threads);
        Arena arena;
        kernels::PanelGradient sums(outputs, inputs);
        sums.add_outer(dy.data(), x.data(), rows, arena);
        sums.add_outer(dy.data(), x.data(), rows, arena);
        std::vector<float> found;
        std::vector<double> expected, bounds;
        for (std::size_t n = 0; n < outputs; ++n) {
          for (const float value : row_of(sums, n)) found.push_back(value);
          for (std::size_t k = 0; k < inputs; ++k) {
            double sum = 0.0, magnitude = 0.0;
            for (std::size_t r = 0; r < rows; ++r) {
              const double term = 2.0 * dy[r * outputs + n] * x[r * inputs + k];
              sum += term;
              magnitude += std::abs(term);
            }
            expected.push_back(sum);
            bounds.push_back(gamma(static_cast<double>(rows) + 2.0) * magnitude);
          }
        }
        expect_close("sums", found, expected, bounds);
        const std::size_t padding = outputs == 1 ? kernels::panel_width() - 1 : 0;
        for (std::size_t k = 0; k < inputs && padding != 0; ++k) {
          const float* after = sums.panels().f32() + k * kernels::panel_width() + 1;
          expect_same_bits("padding", {after, after + padding}, std::vector<float>(padding));
        }
        if (first.empty()) first = found;
        expect_same_bits(concat(threads, " threads"), found, first);
      }
      set_num_threads(1);
    }
  }
}

}  // namespace
}  // namespace clearformer::test
