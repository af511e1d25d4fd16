#include "clearformer/layers/embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "clearformer/layers/output_layer.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/layer_weights.h"
#include "support/model_runs.h"
#include "support/naive_layers.h"

namespace clearformer::test {
namespace {

class EmbeddingOf : public ::testing::TestWithParam<Embedding::Table> {};

TEST_P(EmbeddingOf, GivesTheRowsOfTheTableBitForBit) {
  LayerWeights weights;
  const Tensor table = weights.add("weight", {37, 5});
  const Embedding embedding(weights.scope(), 37, 5, GetParam());
  weights.check();
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 36; id >= 0; --id) ids.push_back(id);
  Tensor out({1, 37, 5});
  embedding.forward(tokens(ids), out);
  for (std::size_t i = 0; i < 37; ++i) {
    expect_same_bits("row", TensorView(out.f32() + i * 5, DType::f32, {5}),
                     TensorView(table.f32() + (36 - i) * 5, DType::f32, {5}));
  }
}

TEST_P(EmbeddingOf, TheRowOfThePaddingHasNoGradient) {
  LayerWeights weights;
  weights.add("weight", {3, 2});
  const Embedding embedding(weights.scope(), 3, 2, GetParam());
  const auto parameters = weights.take_parameters();
  WeightGradients gradients;
  gradients.want(parameters.at(0));
  std::vector<float> d{1, 2, 3, 4, 5, 6, 7, 8};
  const auto backward = [&](std::optional<std::int32_t> padding) {
    gradients.clear();
    embedding.backward(tokens({2, 1, 2, 0}), TensorView(d.data(), DType::f32, {1, 4, 2}),
                       &gradients, padding);
    std::vector<float> rows(6);
    const auto sums = gradients.rows(parameters.at(0));
    for (std::size_t row = 0; row < 3; ++row) sums->copy_row(row, rows.data() + 2 * row);
    return rows;
  };
  EXPECT_EQ(backward({}), (std::vector<float>{7, 8, 3, 4, 6, 8}));
  EXPECT_EQ(backward(2), (std::vector<float>{7, 8, 3, 4, 0, 0}));
}

TEST_P(EmbeddingOf, IdsOutsideTheTableAreRefusedWithTheirPlace) {
  LayerWeights weights;
  weights.add("weight", {10, 2});
  const Embedding embedding(weights.scope(), 10, 2, GetParam());
  Tensor out({2, 3, 2});
  for (const std::int32_t wrong : {10, -1, std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max()}) {
    Tensor ids = tokens({0, 1, 2, 3, 4, wrong});
    ids.reshape({2, 3});
    expect_error(ErrorCode::invalid_argument,
                 {"embedding", std::to_string(wrong), "[1, 2]", "10 rows"},
                 [&] { embedding.forward(ids, out); });
  }
}

TEST_P(EmbeddingOf, IdsOfAnotherTypeAreRefused) {
  LayerWeights weights;
  weights.add("weight", {10, 2});
  const Embedding embedding(weights.scope(), 10, 2, GetParam());
  Tensor out({1, 1, 2});
  expect_error(ErrorCode::dtype_mismatch, {"int64", "int32"},
               [&] { embedding.forward(Tensor::zeros({1, 1}, DType::i64), out); });
}

INSTANTIATE_TEST_SUITE_P(Tables, EmbeddingOf,
                         ::testing::Values(Embedding::Table::exact, Embedding::Table::words,
                                           Embedding::Table::words_and_output),
                         [](const auto& table) {
                           if (table.param == Embedding::Table::exact) return "exact";
                           return table.param == Embedding::Table::words ? "words" : "shared";
                         });

TEST(OutputLayer, TiedItMultipliesWithTheEmbeddingTable) {
  LayerWeights weights;
  const Tensor table = weights.add("weight", {37, 5});
  const Embedding embedding(weights.scope(), 37, 5, Embedding::Table::words_and_output);
  const OutputLayer output(weights.scope(), {5, 37}, &embedding);
  const Tensor x = Random(2).tensor({2, 3, 5});
  Tensor logits({2, 3, 37});
  output.forward(x, logits);
  Numbers expected(naive::linear(Numbers(x).values, table, Tensor()));
  expected.shape = {2, 3, 37};
  expect_close("logits", logits, expected, Bound{gamma(6) * 5.0});
}

TEST(OutputLayer, UntiedItHasItsOwnWeight) {
  LayerWeights weights;
  const Tensor w = weights.add("weight", {9, 4});
  const OutputLayer output(weights.scope(), {4, 9}, nullptr);
  weights.check();
  const Tensor x = Random(3).tensor({1, 2, 4});
  Tensor logits({1, 2, 9});
  output.forward(x, logits);
  Numbers expected(naive::linear(Numbers(x).values, w, Tensor()));
  expected.shape = {1, 2, 9};
  expect_close("logits", logits, expected, Bound{gamma(5) * 4.0});
}

TEST(OutputLayer, BiasScaleAndSoftcapComeInThisOrder) {
  LayerWeights weights;
  const Tensor w = weights.add("weight", {9, 4});
  Tensor row({1, 9});  // final_logits_bias has a leading axis
  for (std::size_t i = 0; i < 9; ++i) row.f32()[i] = static_cast<float>(i) - 4.0f;
  const Tensor bias = weights.add("bias", std::move(row));
  const OutputLayer output(weights.scope(), {4, 9, Bias::present, 0.5f, 3.0f}, nullptr);
  weights.check();
  const Tensor x = Random(4).tensor({1, 2, 4});
  Tensor logits({1, 2, 9});
  output.forward(x, logits);
  Tensor flat = bias.clone();
  flat.reshape({9});
  std::vector<double> expected = naive::linear(Numbers(x).values, w, flat);
  for (double& value : expected) value = 3.0 * std::tanh(0.5 * value / 3.0);
  Numbers numbers(expected);
  numbers.shape = {1, 2, 9};
  expect_close("logits", logits, numbers, Bound{gamma(12) * 8.0});
}

}  // namespace
}  // namespace clearformer::test
