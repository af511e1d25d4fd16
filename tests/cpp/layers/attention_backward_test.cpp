#include "clearformer/layers/attention_backward.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/differences.h"
#include "support/naive_attention_backward.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

struct BackwardSizes {
  std::size_t batch, queries, keys, heads, groups, d, d_v;
};

// Around the panels, the blocks of 48 queries and of 128 keys; grouped heads.
const BackwardSizes kBackwardSizes[] = {{1, 1, 1, 1, 1, 1, 1},     {2, 7, 7, 3, 1, 10, 5},
                                        {1, 5, 9, 4, 2, 8, 3},     {1, 49, 33, 2, 1, 3, 17},
                                        {1, 100, 131, 2, 2, 9, 7}, {2, 1, 64, 6, 2, 16, 33},
                                        {1, 3, 300, 1, 1, 10, 10}};

AttentionProblem backward_problem(const BackwardSizes& sizes, std::uint64_t seed = 1) {
  Random random(seed);
  AttentionProblem problem;
  problem.queries = random.tensor({sizes.batch, sizes.queries, sizes.heads, sizes.d}, -2, 2);
  problem.keys = random.tensor({sizes.batch, sizes.keys, sizes.groups, sizes.d}, -2, 2);
  problem.values = random.tensor({sizes.batch, sizes.keys, sizes.groups, sizes.d_v}, -3, 3);
  problem.options.score.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.d)));
  return problem;
}

Tensor cotangent_of(const AttentionProblem& problem) {
  return Random(9).tensor(
      {problem.batch(), problem.length(), problem.heads(), problem.values.dim(3)});
}

Numbers in_shape(std::vector<double> values, const Shape& shape) {
  Numbers numbers(values);
  numbers.shape = shape;
  return numbers;
}

// Patterns have the error of their exponentials, of scores within ±40: some γ(d + 40), times |dO·V|, up to 3·d_v, and
// sums over S or T·H/G terms, whose weights add up to 1 in a row.
Bound bound_of(const AttentionProblem& problem) {
  const double widths = static_cast<double>(problem.queries.dim(3) + problem.values.dim(3));
  const double rows = static_cast<double>(problem.length() * problem.heads()) + 40.0;
  return {gamma(widths + rows) * 6.0 * std::sqrt(widths) + 1e-6, 0.0, gamma(widths + rows)};
}

void expect_gradients(const AttentionProblem& problem, const Mask& mask) {
  const Tensor d = cotangent_of(problem);
  const NaiveGradients expected = naive_attention_backward(problem, d);
  const FoundGradients found = attend_backward(problem, mask, d);
  const Bound bound = bound_of(problem);
  expect_close("queries", found.queries, in_shape(expected.queries, problem.queries.shape()),
               bound);
  expect_close("keys", found.keys, in_shape(expected.keys, problem.keys.shape()), bound);
  expect_close("values", found.values, in_shape(expected.values, problem.values.shape()), bound);
  if (problem.options.unmasked_keys == 0) {
    expect_close("bias", found.bias, in_shape(expected.bias, found.bias.shape()), bound);
  }
  if (problem.options.score.weights != nullptr) {
    expect_close("weights", found.weights, expected.weights, Bound{bound.absolute * 8.0});
  }
  for (const std::size_t threads : {2u, 4u}) {
    set_num_threads(threads);
    const FoundGradients again = attend_backward(problem, mask, d);
    expect_same_bits("queries by threads", again.queries, found.queries);
    expect_same_bits("keys by threads", again.keys, found.keys);
    expect_same_bits("values by threads", again.values, found.values);
    expect_same_bits("bias by threads", again.bias, found.bias);
    expect_same_bits("weights by threads", again.weights, found.weights);
  }
  set_num_threads(1);
}

TEST(AttentionBackward, EqualsTheNaiveTwinUnderMasksAndSoftcaps) {
  for (const BackwardSizes& sizes : kBackwardSizes) {
    SCOPED_TRACE(concat("T ", sizes.queries, ", S ", sizes.keys, ", H ", sizes.heads));
    AttentionProblem problem = backward_problem(sizes);
    expect_gradients(problem, Mask());
    problem.visible = [](auto, auto, std::size_t t, std::size_t s) { return s <= t + 2; };
    problem.options.softcap = 3.0f;
    expect_gradients(problem, Mask::causal(2));
    problem.visible = [](auto, auto, std::size_t t, std::size_t s) { return s <= t && s + 3 >= t; };
    expect_gradients(problem, Mask::window(0, 3, 0));
  }
}

TEST(AttentionBackward, EqualsTheNaiveTwinWithBiasesAndEmptyRows) {
  for (const BackwardSizes& sizes : kBackwardSizes) {
    SCOPED_TRACE(concat("T ", sizes.queries, ", S ", sizes.keys, ", H ", sizes.heads));
    AttentionProblem problem = backward_problem(sizes);
    const Tensor bias = Random(3).tensor({sizes.heads, sizes.queries, sizes.keys}, -3, 3);
    problem.added = [&](auto, std::size_t h, std::size_t t, std::size_t s) {
      return double{bias.f32()[(h * sizes.queries + t) * sizes.keys + s]};
    };
    // Every third query attends to nothing.
    Tensor flags({sizes.queries, sizes.keys}, DType::u8);
    for (std::size_t i = 0; i < flags.elements(); ++i) {
      flags.mutable_view().as<std::uint8_t>()[i] = i / sizes.keys % 3 == 0 ? 0 : 1;
    }
    problem.visible = [](auto, auto, std::size_t t, auto) { return t % 3 != 0; };
    for (const EmptyRow empty : {EmptyRow::zeros, EmptyRow::uniform}) {
      problem.options.empty_row = empty;
      expect_gradients(problem, Mask::additive(bias.clone()) & Mask::allow(flags.clone()));
    }
    // One bias for all sequences has the sum of their gradients.
    const Tensor d = cotangent_of(problem);
    const Mask mask = Mask::additive(bias.clone()) & Mask::allow(flags.clone());
    const FoundGradients each = attend_backward(problem, mask, d);
    const FoundGradients shared = attend_backward(problem, mask, d, true);
    for (std::size_t i = 0; i < shared.bias.elements(); ++i) {
      float sum = 0.0f;
      for (std::size_t b = 0; b < sizes.batch; ++b) {
        sum += each.bias.f32()[b * shared.bias.elements() + i];
      }
      EXPECT_EQ(shared.bias.f32()[i], sum);
    }
    expect_same_bits("keys", shared.keys, each.keys);
  }
}

TEST(AttentionBackward, EqualsTheNaiveTwinForScoresThatCompareKeysOneByOne) {
  for (const BackwardSizes& sizes : {kBackwardSizes[1], kBackwardSizes[2], kBackwardSizes[4]}) {
    SCOPED_TRACE(concat("T ", sizes.queries, ", S ", sizes.keys, ", H ", sizes.heads));
    AttentionProblem problem = backward_problem(sizes);
    const auto weights = Random(4).list(sizes.d);
    problem.visible = [](auto, auto, std::size_t t, std::size_t s) { return s <= t; };
    problem.options.score = {kernels::additive_scores, weights.data(), 1.0f};
    expect_gradients(problem, Mask::causal());
    problem.options.score = {kernels::squared_distances, nullptr, -0.4f};
    expect_gradients(problem, Mask::causal());
  }
}

// The last keys, which no mask hides, have gradients, and no bias.
TEST(AttentionBackward, EqualsTheNaiveTwinWithExtraKeys) {
  AttentionProblem problem = backward_problem({2, 6, 8, 2, 2, 4, 3});
  problem.options.unmasked_keys = 2;
  problem.visible = [](auto, auto, std::size_t t, std::size_t s) { return s >= 6 || s < t; };
  Tensor flags({6, 6}, DType::u8), bias = Random(5).tensor({6, 6});
  for (std::size_t i = 0; i < 36; ++i) {
    flags.mutable_view().as<std::uint8_t>()[i] = i % 6 < i / 6 ? 1 : 0;
  }
  problem.added = [&](auto, auto, std::size_t t, std::size_t s) {
    return s < 6 ? double{bias.f32()[t * 6 + s]} : 0.0;
  };
  const Mask mask = Mask::additive(bias.clone()) & Mask::allow(std::move(flags));
  expect_gradients(problem, mask);
  const Tensor d = cotangent_of(problem);
  const NaiveGradients expected = naive_attention_backward(problem, d);
  const FoundGradients found = attend_backward(problem, mask, d);
  ASSERT_EQ(found.bias.shape(), (Shape{2, 2, 6, 6}));
  for (std::size_t i = 0; i < found.bias.elements(); ++i) {
    EXPECT_NEAR(found.bias.f32()[i], expected.bias[i / 6 * 8 + i % 6], 1e-5);
  }
}

// The twin itself, by differences of the forward twin. Operands are multiples of the step, 2^-6: exact in float.
TEST(AttentionBackward, TheTwinEqualsDifferences) {
  AttentionProblem problem = backward_problem({1, 3, 4, 2, 1, 3, 2});
  problem.visible = [](auto, auto, std::size_t t, std::size_t s) { return s <= t; };
  problem.options.softcap = 2.0f;
  for (Tensor* operand : {&problem.queries, &problem.keys, &problem.values}) {
    for (std::size_t i = 0; i < operand->elements(); ++i) {
      operand->f32()[i] = std::round(operand->f32()[i] * 64.0f) / 64.0f;
    }
  }
  const Tensor d = cotangent_of(problem);
  const NaiveGradients expected = naive_attention_backward(problem, d);
  const auto differences_of = [&](Tensor& operand) {
    const auto loss = [&](const std::vector<double>& at) {
      std::copy(at.begin(), at.end(), operand.f32());
      return weighted_sum(naive_attention(problem).output, doubles_of(d));
    };
    const auto before = doubles_of(operand);
    const auto found = differences(loss, before, 0x1p-6);
    std::copy(before.begin(), before.end(), operand.f32());
    return found;
  };
  const Bound bound{1e-6};
  expect_close("queries", differences_of(problem.queries), expected.queries, bound);
  expect_close("keys", differences_of(problem.keys), expected.keys, bound);
  expect_close("values", differences_of(problem.values), expected.values, bound);
}

}  // namespace
}  // namespace clearformer::test
