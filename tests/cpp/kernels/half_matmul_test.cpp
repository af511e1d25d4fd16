// Products with fp16 weights: the bits of those with the widened weights.
#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/tensor/rounding.h"
#include "support/closeness.h"
#include "support/packed_product.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

// A column of all halves with one of the first exponents, the first of which is that of zero and subnormal numbers.
Tensor every_half(std::size_t exponents) {
  Tensor weights({2 * exponents * 1024, 1});
  for (std::size_t i = 0; i < weights.elements(); ++i) {
    const std::size_t sign = i / (exponents * 1024), rest = i % (exponents * 1024);
    weights.f32()[i] = float_from_f16(static_cast<std::uint16_t>(sign << 15 | rest));
  }
  return weights;
}

// Of one row, few rows and a tile; and the rows themselves.
void expect_products(const kernels::PackedMatrix& packed, const Tensor& weights) {
  const std::size_t count = weights.elements();
  for (const std::size_t rows : {1u, 2u, 5u}) {
    std::vector<float> expected;
    for (std::size_t i = 0; i < rows * count; ++i) {
      expected.push_back(weights.f32()[i % count] + 0.0f);
    }
    expect_same_bits("halves", product(packed, std::vector<float>(rows, 1.0f)), expected);
  }
  for (std::size_t i = 0; i < count; i += 17) {
    float number = -1.0f;
    packed.copy_row(i, &number);
    EXPECT_EQ(number, weights.f32()[i]);
  }
}

// fp32 with the widened weight gives the same bits as f16: also for subnormal inputs, and for those whose 2^112-fold is
// infinite.
TEST(HalfMatmul, HalvesGiveTheBitsOfTheirFloats) {
  Random random(3);
  for (std::size_t m = 1; m <= 7; ++m) {
    const Matrix halves = Matrix::of(random.tensor({300, 53}), MatrixFormat::f16);
    Tensor floats({300, 53});
    for (std::size_t row = 0; row < 300; ++row) halves.copy_row(row, floats.f32() + row * 53);
    const kernels::PackedMatrix wide(std::move(floats));
    for (const float scale : {1.0f, 0x1p-130f, 0x1p14f, 0x1p20f, 0x1p100f}) {
      std::vector<float> x = random.list(m * 53);
      for (float& number : x) number *= scale;
      expect_same_bits(concat(m, " rows times ", scale),
                       product(kernels::PackedMatrix(halves.slice({0, 300})), x), product(wide, x));
    }
  }
}

// Every finite half, including subnormals.
TEST(HalfMatmul, EveryHalfIsWidenedExactly) {
  const Tensor weights = every_half(31);
  const kernels::PackedMatrix packed(Matrix::of(weights, MatrixFormat::f16));
  expect_products(packed, weights);
}

// Halves up to some exponent are multiplied by a power of two in their panels, subnormal ones, too, until a row is written
// that leaves no room for it.
TEST(HalfMatmul, HalvesAreLiftedExactly) {
  for (const std::size_t exponents : {1u, 2u, 7u, 15u, 30u}) {
    Tensor weights = every_half(exponents);
    const std::size_t count = weights.elements();
    kernels::PackedMatrix packed(Matrix::of(weights, MatrixFormat::f16));
    EXPECT_EQ(packed.unlift(),
              std::ldexp(1.0f, static_cast<int>(exponents == 1 ? 1 : exponents - 1) - 30));
    expect_products(packed, weights);
    for (const float larger : {0.37f, -3.0f, 65504.0f}) {
      weights.f32()[count / 3] = float_from_f16(f16_from_float(larger));
      packed.set_row(count / 3, &larger);
      expect_products(packed, weights);
    }
    EXPECT_EQ(packed.unlift(), 1.0f);
  }
}

}  // namespace
}  // namespace clearformer::test
