#include "clearformer/layers/rotary_embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

Tensor rotary_positions(const std::vector<std::int32_t>& values) {
  Tensor positions({1, values.size()}, DType::i32);
  std::copy(values.begin(), values.end(), positions.mutable_view().as<std::int32_t>());
  return positions;
}

// The angle is accurate to double precision even at large positions; cosine and sine are rounded once.
TEST(RotaryEmbedding, AnglesAreExactFarOut) {
  const std::size_t d_head = 64;
  const RotaryEmbedding rotary({d_head});
  Arena arena;
  const std::vector<std::int32_t> at = {0, 1, 2, 511, 4095, 100'000, 2'000'000, -3};
  const RotaryTable table = rotary.table(rotary_positions(at), arena);
  EXPECT_EQ(table.cosines.shape(), (Shape{1, at.size(), d_head / 2}));
  for (std::size_t t = 0; t < at.size(); ++t) {
    for (std::size_t i = 0; i < d_head / 2; ++i) {
      const long double angle = at[t] * std::pow(10000.0L, -2.0L * i / d_head);
      // 1e-9 for the rounding of frequency and angle in double at position 2·10⁶.
      EXPECT_NEAR(table.cosines.f32()[t * d_head / 2 + i], std::cos(angle), kRoundoff + 1e-9);
      EXPECT_NEAR(table.sines.f32()[t * d_head / 2 + i], std::sin(angle), kRoundoff + 1e-9);
    }
  }
}

TEST(RotaryEmbedding, TurnsEveryHeadByItsPosition) {
  Random random(1);
  const Tensor x = random.tensor({2, 3, 4, 6});
  Tensor positions({2, 3}, DType::i32);
  for (std::size_t i = 0; i < 6; ++i) {
    positions.mutable_view().as<std::int32_t>()[i] = static_cast<std::int32_t>(7 * i);
  }
  Arena arena;
  Tensor turned = x.clone();
  RotaryEmbedding::rotate(turned, RotaryEmbedding({6, 0, 100.0}).table(positions, arena));
  for (std::size_t i = 0; i < x.elements(); ++i) {
    const std::size_t vector = i / 6 * 6, pair = i % 6 % 3;
    const double angle =
        static_cast<double>(7 * (i / 24)) * std::pow(100.0, -2.0 * static_cast<double>(pair) / 6.0);
    const double a = x.f32()[vector + pair], b = x.f32()[vector + pair + 3];
    const double expected = i % 6 < 3 ? a * std::cos(angle) - b * std::sin(angle)
                                      : b * std::cos(angle) + a * std::sin(angle);
    EXPECT_NEAR(turned.f32()[i], expected, gamma(4) * 2.0);
  }
}

// The purpose of rotary positions: dot products depend on the distance only.
TEST(RotaryEmbedding, DotProductsDependOnTheDistanceAlone) {
  Random random(2);
  const Tensor query = random.tensor({1, 1, 1, 16}), key = random.tensor({1, 1, 1, 16});
  const RotaryEmbedding rotary({16});
  const auto dot = [&](std::int32_t query_at, std::int32_t key_at) {
    Arena arena;
    Tensor q = query.clone(), k = key.clone();
    RotaryEmbedding::rotate(q, rotary.table(rotary_positions({query_at}), arena));
    RotaryEmbedding::rotate(k, rotary.table(rotary_positions({key_at}), arena));
    double sum = 0.0;
    for (std::size_t i = 0; i < 16; ++i) sum += double{q.f32()[i]} * k.f32()[i];
    return sum;
  };
  for (const std::int32_t shift : {1, 50, 10'000})
    EXPECT_NEAR(dot(5, 2), dot(5 + shift, 2 + shift), 1e-5);
  EXPECT_GT(std::abs(dot(5, 2) - dot(6, 2)), 1e-3);
}

TEST(RotaryEmbedding, OddOrEmptyHeadsAreRefused) {
  expect_error(ErrorCode::invalid_argument, {"rotary", "even", "7"}, [] { RotaryEmbedding({7}); });
  expect_error(ErrorCode::invalid_argument, {"rotary", "0"}, [] { RotaryEmbedding({0}); });
}

TEST(RotaryEmbedding, PositionsOfAnotherTypeAreRefused) {
  Arena arena;
  const RotaryEmbedding rotary({4});
  expect_error(ErrorCode::dtype_mismatch, {"int64", "int32"},
               [&] { rotary.table(Tensor::zeros({1, 2}, DType::i64), arena); });
}

}  // namespace
}  // namespace clearformer::test
