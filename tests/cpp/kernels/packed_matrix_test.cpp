#include "clearformer/kernels/packed_matrix.h"

#include <gtest/gtest.h>

#include <cstring>

#include "clearformer/kernels/matmul.h"
#include "clearformer/weights/weights.h"
#include "support/closeness.h"
#include "support/guarded.h"
#include "support/naive_kernels.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

using kernels::PackedMatrix;

Tensor filled(Tensor weight, const Tensor& values) {
  std::memcpy(weight.data(), values.data(), values.elements() * sizeof(float));
  return weight;
}

// Every row of the weight is unpacked exactly, and nothing beyond it is written.
void expect_rows(const PackedMatrix& matrix, const Tensor& weight) {
  ASSERT_EQ(matrix.outputs(), weight.dim(0));
  ASSERT_EQ(matrix.inputs(), weight.dim(1));
  for (std::size_t row = 0; row < weight.dim(0); ++row) {
    Guarded out(weight.dim(1), 1, -7.0f);
    matrix.copy_row(row, out.data());
    EXPECT_TRUE(out.intact());
    const float* expected = weight.f32() + row * weight.dim(1);
    expect_same_bits(concat("row ", row), out.values(), {expected, expected + weight.dim(1)});
  }
}

TEST(PackedMatrix, GivesBackEveryRowWhetherPackedInPlaceOrThroughACopy) {
  Random random(1);
  const std::size_t widest = 2 * kernels::panel_width() + 1;
  for (std::size_t outputs = 1; outputs <= widest; ++outputs) {
    for (const std::size_t inputs : {1u, 3u, 17u}) {
      SCOPED_TRACE(concat(outputs, " outputs, ", inputs, " inputs"));
      const Tensor weight = random.tensor({outputs, inputs});
      Tensor roomy = filled(Weights::allocate(weight.shape(), DType::f32), weight);
      const PackedMatrix in_place(std::move(roomy));
      expect_rows(in_place, weight);
      const PackedMatrix copied(weight.clone());
      expect_rows(copied, weight);
    }
  }
}

TEST(PackedMatrix, PacksInPlaceWhereWeightsLeftRoom) {
  const Tensor weight = Random(2).tensor({33, 5});
  Tensor roomy = filled(Weights::allocate(weight.shape(), DType::f32), weight);
  const std::size_t bytes = roomy.capacity() * sizeof(float);
  EXPECT_EQ(PackedMatrix(std::move(roomy)).bytes(), bytes);
  EXPECT_EQ(Weights::kRowMultiple % kernels::panel_width(), 0u)
      << "the room Weights leaves is no whole number of panels";
}

TEST(PackedMatrix, MultipliesLikeTheNaiveTwin) {
  Random random(3);
  for (std::size_t outputs = 1; outputs <= 40; ++outputs) {
    const std::size_t inputs = 1 + outputs % 13, rows = 1 + outputs % 5;
    SCOPED_TRACE(concat(outputs, " outputs, ", inputs, " inputs"));
    const Tensor weight = random.tensor({outputs, inputs});
    const auto x = random.list(rows * inputs), bias = random.list(outputs);
    std::vector<float> transposed(inputs * outputs);
    for (std::size_t i = 0; i < transposed.size(); ++i) {
      transposed[i] = weight.f32()[i % outputs * inputs + i / outputs];
    }
    Guarded y(rows * outputs, 1);
    PackedMatrix(weight.clone()).multiply(x.data(), y.data(), rows, {.bias = bias.data()});
    EXPECT_TRUE(y.intact());
    const auto product = naive::matmul(x, transposed, bias, rows, outputs, inputs);
    std::vector<double> bounds;  // see matmul_test.cpp
    for (const double magnitude : product.of_magnitudes) {
      bounds.push_back(gamma(static_cast<double>(inputs) + 1.0) * magnitude);
    }
    expect_close("y", y.values(), product.values, bounds);
  }
}

TEST(PackedMatrix, AnEmptyTensorGivesAnEmptyMatrix) {
  const PackedMatrix matrix{Tensor()};
  EXPECT_EQ(matrix.outputs(), 0u);
  EXPECT_EQ(matrix.inputs(), 0u);
}

}  // namespace
}  // namespace clearformer::test
