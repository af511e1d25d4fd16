// Table 1 of Vaswani et al. 2017, by counting.
#include "clearformer/layers/complexity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/expect_error.h"

namespace clearformer::test {
namespace {

Complexity self_attention(std::size_t n, std::size_t d) {
  return complexity(LayerKind::self_attention, {n, d});
}

TEST(Complexity, SelfAttention) {
  const Complexity cost = self_attention(7, 5);
  EXPECT_EQ(cost.multiply_adds, 2u * 7 * 7 * 5);
  EXPECT_EQ(cost.projection_multiply_adds, 4u * 7 * 5 * 5);
  EXPECT_EQ(cost.sequential_operations, 1u);
  EXPECT_EQ(cost.maximum_path_length, 1u);
  EXPECT_EQ(cost.work, "O(n²·d)");
  EXPECT_EQ(cost.sequential, "O(1)");
  EXPECT_EQ(cost.path_length, "O(1)");
}

TEST(Complexity, Recurrent) {
  const Complexity cost = complexity(LayerKind::recurrent, {7, 5});
  EXPECT_EQ(cost.multiply_adds, 2u * 7 * 5 * 5);
  EXPECT_EQ(cost.projection_multiply_adds, 0u);
  EXPECT_EQ(cost.sequential_operations, 7u);
  EXPECT_EQ(cost.maximum_path_length, 7u);
  EXPECT_EQ(cost.work, "O(n·d²)");
}

TEST(Complexity, Convolutional) {
  const Complexity cost = complexity(LayerKind::convolutional, {7, 5, 3});
  EXPECT_EQ(cost.multiply_adds, 3u * 7 * 5 * 5);
  EXPECT_EQ(cost.sequential_operations, 1u);
  EXPECT_EQ(cost.maximum_path_length, 3u);
  EXPECT_EQ(cost.work, "O(k·n·d²)");
  EXPECT_EQ(cost.path_length, "O(n/k)");
  EXPECT_EQ(complexity(LayerKind::dilated_convolutional, {7, 5, 3}).path_length, "O(log_k n)");
}

TEST(Complexity, RestrictedSelfAttention) {
  const Complexity cost = complexity(LayerKind::restricted_self_attention, {7, 5, 0, 3});
  EXPECT_EQ(cost.multiply_adds, 2u * 3 * 7 * 5);
  EXPECT_EQ(cost.maximum_path_length, 3u);
  EXPECT_EQ(cost.work, "O(r·n·d)");
  // A neighbourhood that includes all positions is self-attention.
  const Complexity all = complexity(LayerKind::restricted_self_attention, {7, 5, 0, 100});
  EXPECT_EQ(all.multiply_adds, self_attention(7, 5).multiply_adds);
  EXPECT_EQ(all.maximum_path_length, 1u);
}

// Counted by the multiply-adds in loops over positions and dimensions.
TEST(Complexity, WorkIsWhatLoopsCount) {
  for (std::size_t n = 1; n <= 6; ++n) {
    for (std::size_t d = 1; d <= 4; ++d) {
      std::uint64_t attention = 0, convolution = 0;
      for (std::size_t query = 0; query < n; ++query) {
        for (std::size_t key = 0; key < n; ++key) attention += d;  // score
        for (std::size_t i = 0; i < d; ++i) attention += n;        // mix
        for (std::size_t out = 0; out < d; ++out) convolution += 3 * d;
      }
      EXPECT_EQ(self_attention(n, d).multiply_adds, attention);
      EXPECT_EQ(complexity(LayerKind::convolutional, {n, d, 3}).multiply_adds, convolution);
    }
  }
}

TEST(Complexity, DilatedPathsAreTheLogarithmRoundedUp) {
  for (std::size_t k = 2; k <= 7; ++k) {
    for (std::size_t n = 1; n <= 3000; ++n) {
      std::uint64_t layers = 0, span = 1;
      for (; span < n; span *= k) ++layers;
      const auto path = complexity(LayerKind::dilated_convolutional, {n, 1, k}).maximum_path_length;
      EXPECT_EQ(path, std::max<std::uint64_t>(layers, 1)) << "n " << n << ", k " << k;
    }
  }
}

TEST(Complexity, RefusalsNameTheRule) {
  const auto invalid = ErrorCode::invalid_argument;
  const auto of = [](LayerKind kind, LayerSize size) { return [=] { complexity(kind, size); }; };
  expect_error(invalid, {"sequence length"}, of(LayerKind::self_attention, {0, 5}));
  expect_error(invalid, {"dimension"}, of(LayerKind::recurrent, {7, 0}));
  expect_error(invalid, {"kernel size", "at least 1"}, of(LayerKind::convolutional, {7, 5}));
  expect_error(invalid, {"kernel size 1", "7 positions"},
               of(LayerKind::dilated_convolutional, {7, 5, 1}));
  expect_error(invalid, {"neighbourhood"}, of(LayerKind::restricted_self_attention, {7, 5, 3, 0}));
  EXPECT_EQ(complexity(LayerKind::convolutional, {1, 5, 1}).maximum_path_length, 1u);
  if (sizeof(std::size_t) > 4) {
    const auto huge = static_cast<std::size_t>(1) << 31;
    expect_error(invalid, {"2^64"}, of(LayerKind::self_attention, {huge, huge}));
  }
}

}  // namespace
}  // namespace clearformer::test
