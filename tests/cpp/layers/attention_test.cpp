#include "clearformer/layers/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/naive_attention.h"
#include "support/random.h"
#include "support/rounded_rows.h"

namespace clearformer::test {
namespace {

struct AttentionSizes {
  std::size_t batch, queries, keys, heads, groups, d, d_v;
};

// Sizes around the panels (16 or 32 wide), the blocks of 48 queries and of 128 keys; n != m; grouped heads.
const AttentionSizes kAttentionSizes[] = {
    {1, 1, 1, 1, 1, 1, 1},     {2, 7, 7, 3, 1, 10, 10},  {1, 5, 9, 4, 2, 8, 3},
    {2, 9, 4, 2, 2, 5, 17},    {1, 48, 48, 1, 1, 4, 4},  {1, 49, 33, 2, 1, 3, 16},
    {1, 100, 131, 2, 2, 9, 7}, {3, 1, 64, 6, 2, 16, 33}, {1, 3, 600, 1, 1, 10, 10},
    {1, 130, 128, 1, 1, 4, 9}, {2, 5, 129, 2, 2, 6, 6},  {1, 300, 300, 1, 1, 5, 3}};

std::string text(const AttentionSizes& sizes) {
  return concat("B ", sizes.batch, ", T ", sizes.queries, ", S ", sizes.keys, ", H ", sizes.heads,
                ", G ", sizes.groups, ", d ", sizes.d, ", d_v ", sizes.d_v);
}

AttentionProblem problem_of(const AttentionSizes& sizes, std::uint64_t seed = 1) {
  Random random(seed);
  AttentionProblem problem;
  problem.queries = random.tensor({sizes.batch, sizes.queries, sizes.heads, sizes.d}, -2, 2);
  problem.keys = random.tensor({sizes.batch, sizes.keys, sizes.groups, sizes.d}, -2, 2);
  problem.values = random.tensor({sizes.batch, sizes.keys, sizes.groups, sizes.d_v}, -3, 3);
  problem.options.score.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.d)));
  return problem;
}

// A full mask (B, H, T, S) of random flags; every fourth row has none set.
Tensor random_flags(const AttentionSizes& sizes, std::uint64_t seed) {
  Random random(seed);
  Tensor flags({sizes.batch, sizes.heads, sizes.queries, sizes.keys}, DType::u8);
  for (std::size_t i = 0; i < flags.elements(); ++i) {
    const bool empty = i / sizes.keys % 4 == 3;
    flags.mutable_view().as<std::uint8_t>()[i] = !empty && random.below(3) != 0 ? 1 : 0;
  }
  return flags;
}

// Index of (b, h, t, s) in a full mask.
std::size_t at(const AttentionSizes& sizes, std::size_t b, std::size_t h, std::size_t t,
               std::size_t s) {
  return ((b * sizes.heads + h) * sizes.queries + t) * sizes.keys + s;
}

TEST(Attention, EqualsTheNaiveTwinWithoutMask) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    SCOPED_TRACE(text(sizes));
    expect_attention(problem_of(sizes), Mask());
  }
}

TEST(Attention, EqualsTheNaiveTwinUnderCausalMasks) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const std::size_t past : {0u, 1u, 50u}) {
      SCOPED_TRACE(text(sizes) + concat(", past ", past));
      AttentionProblem problem = problem_of(sizes);
      problem.visible = [past](auto, auto, std::size_t t, std::size_t s) { return s <= t + past; };
      expect_attention(problem, Mask::causal(past));
    }
  }
}

// Whole blocks of keys precede the first that a query attends to.
TEST(Attention, EqualsTheNaiveTwinUnderWindows) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const std::size_t before : {0u, 3u, 140u}) {
      SCOPED_TRACE(text(sizes) + concat(", ", before, " before"));
      AttentionProblem problem = problem_of(sizes);
      problem.visible = [before](auto, auto, std::size_t t, std::size_t s) {
        return s <= t && s + before >= t;
      };
      expect_attention(problem, Mask::causal() & Mask::window(0, before, 0));
    }
  }
}

TEST(Attention, IsZeroWithoutKeys) {
  for (const EmptyRow empty : {EmptyRow::zeros, EmptyRow::uniform}) {
    AttentionProblem problem = problem_of({1, 2, 0, 2, 1, 4, 3});
    problem.options.empty_row = empty;
    const Tensor output = attend(problem, Mask());
    for (std::size_t i = 0; i < output.elements(); ++i) EXPECT_EQ(output.f32()[i], 0.0f);
  }
}

TEST(Attention, EqualsTheNaiveTwinOverRoundedKeysAndValues) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const CacheFormat format : {CacheFormat::f16, CacheFormat::q8}) {
      SCOPED_TRACE(text(sizes) + concat(", ", to_string(format)));
      AttentionProblem problem = problem_of(sizes);
      problem.format = format;
      expect_attention(problem, Mask());
      problem.options.empty_row = EmptyRow::uniform;
      problem.visible = [](auto, auto, std::size_t t, std::size_t) { return t % 2 == 0; };
      Tensor flags = Tensor::zeros({sizes.queries, sizes.keys}, DType::u8);
      for (std::size_t i = 0; i < flags.elements(); ++i) {
        flags.mutable_view().as<std::uint8_t>()[i] = i / sizes.keys % 2 == 0 ? 1 : 0;
      }
      expect_attention(problem, Mask::allow(std::move(flags)));
    }
  }
}

TEST(Attention, ScoresThatCompareKeysOneByOneNeedThemInFloats) {
  AttentionProblem problem = problem_of({1, 2, 3, 1, 1, 4, 4});
  problem.options.score = {kernels::squared_distances, nullptr, -0.5f};
  problem.format = CacheFormat::q8;
  expect_error(ErrorCode::unsupported, {"attention", "fp32", "q8"},
               [&] { attend(problem, Mask()); });
}

// A query's bits do not depend on the other queries: decoding gives the same bits as prefill.
void expect_same_bits_alone(CacheFormat format) {
  const AttentionSizes sizes{1, 300, 300, 2, 1, 6, 5};
  AttentionProblem whole = problem_of(sizes);
  whole.format = format;
  const Tensor all = attend(whole, Mask::causal());
  for (const std::size_t query : {0u, 47u, 48u, 127u, 128u, 255u, 299u}) {
    AttentionProblem step;
    step.format = format;
    const std::size_t row = sizes.heads * sizes.d, out = sizes.heads * sizes.d_v;
    step.queries = Tensor::copy_of(
        {whole.queries.f32() + query * row, DType::f32, {1, 1, sizes.heads, sizes.d}});
    step.keys = Tensor::copy_of({whole.keys.f32(), DType::f32, {1, query + 1, 1, sizes.d}});
    step.values = Tensor::copy_of({whole.values.f32(), DType::f32, {1, query + 1, 1, sizes.d_v}});
    step.options = whole.options;
    const TensorView expected(all.f32() + query * out, DType::f32, {1, 1, sizes.heads, sizes.d_v});
    expect_same_bits(concat("query ", query), attend(step, Mask::causal(query)),
                     Tensor::copy_of(expected));
  }
}

TEST(Attention, AQueryHasTheSameBitsAloneAndAmongOthers) {
  for (const CacheFormat format : kCacheFormats) expect_same_bits_alone(format);
}

// The workspace does not grow with the sequence: only one block of scores is kept.
TEST(Attention, TheWorkspaceOfSixteenThousandPositionsIsThatOfFewer) {
  const auto workspace = [](std::size_t length) {
    const AttentionProblem problem = problem_of({1, length, length, 1, 1, 4, 4});
    Arena store, arena;
    Tensor output(problem.queries.shape());
    const PackedKeyValues packed =
        packed_in(store, positions_first(problem.keys), positions_first(problem.values));
    attention(positions_first(problem.queries), packed, Mask::causal(), problem.options,
              positions_first_mutable(output), Context{arena, TraceScope()});
    return arena.bytes();
  };
  EXPECT_EQ(workspace(16384), workspace(256));
  EXPECT_LE(workspace(16384), 128u * 1024);
}

TEST(Attention, EqualsTheNaiveTwinUnderBooleanMasksWithEmptyRows) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    SCOPED_TRACE(text(sizes));
    AttentionProblem problem = problem_of(sizes);
    const Tensor flags = random_flags(sizes, 2);
    const auto* flag = flags.view().as<std::uint8_t>();
    problem.visible = [&](auto b, auto h, auto t, auto s) {
      return flag[at(sizes, b, h, t, s)] != 0;
    };
    expect_attention(problem, Mask::allow(flags.clone()));
    problem.visible = [&](auto b, auto h, auto t, auto s) {
      return flag[at(sizes, b, h, t, s)] == 0;
    };
    expect_attention(problem, Mask::ignore(flags.clone()));
  }
}

TEST(Attention, EqualsTheNaiveTwinUnderAdditiveAndCombinedMasks) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    SCOPED_TRACE(text(sizes));
    AttentionProblem problem = problem_of(sizes);
    const Tensor flags = random_flags(sizes, 3);
    Tensor bias = Random(4).tensor(flags.shape(), -5, 5);
    for (std::size_t i = 0; i < bias.elements(); i += 7) {
      bias.f32()[i] = -std::numeric_limits<float>::infinity();
    }
    problem.added = [&](auto b, auto h, auto t, auto s) {
      return double{bias.f32()[at(sizes, b, h, t, s)]};
    };
    expect_attention(problem, Mask::additive(bias.clone()));
    problem.visible = [&](auto b, auto h, auto t, auto s) {
      return s <= t && flags.view().as<std::uint8_t>()[at(sizes, b, h, t, s)] != 0;
    };
    expect_attention(problem,
                     Mask::additive(bias.clone()) & Mask::causal() & Mask::allow(flags.clone()));
  }
}

TEST(Attention, EqualsTheNaiveTwinForEveryScoreAndSoftcap) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    const std::vector<float> weights = Random(5).list(sizes.d);
    const ScoreSpec dot = problem_of(sizes).options.score;
    for (const ScoreSpec& score : {dot, ScoreSpec{kernels::additive_scores, weights.data()},
                                   ScoreSpec{kernels::squared_distances, nullptr, -0.5f}}) {
      for (const float softcap : {0.0f, 1.5f}) {
        SCOPED_TRACE(text(sizes) +
                     concat(", scale ", double{score.scale}, ", softcap ", double{softcap}));
        AttentionProblem problem = problem_of(sizes);
        problem.options.score = score;
        problem.options.softcap = softcap;
        expect_attention(problem, Mask());
      }
    }
  }
}

TEST(Attention, ARowWithNothingToAttendToIsZeroTracedOrNot) {
  const AttentionProblem problem = problem_of({2, 50, 20, 2, 1, 6, 5});
  const Mask nothing = Mask::allow(Tensor::zeros({20}, DType::u8));
  Trace trace;
  trace.capture("hook_pattern");
  for (const Tensor& output : {attend(problem, nothing), attend(problem, nothing, &trace)}) {
    EXPECT_EQ(Numbers(output).values, std::vector<double>(output.elements(), 0.0));
  }
  EXPECT_EQ(Numbers(trace.at("hook_pattern")).values, std::vector<double>(2 * 2 * 50 * 20, 0.0));
}

// One block of keys or several, with a full or partial last one.
TEST(Attention, ARowWithNothingToAttendToIsUniformWhereAsked) {
  for (const std::size_t keys : {8u, 128u, 129u, 256u, 300u, 600u}) {
    SCOPED_TRACE(concat(keys, " keys"));
    AttentionProblem problem = problem_of({1, 50, keys, 1, 1, 6, 5});
    problem.options.empty_row = EmptyRow::uniform;
    problem.visible = [](auto, auto, std::size_t t, std::size_t s) { return t % 2 == 0 && s != 3; };
    Tensor flags({50, keys}, DType::u8);
    for (std::size_t i = 0; i < flags.elements(); ++i) {
      const bool sees = problem.visible(0, 0, i / keys, i % keys);
      flags.mutable_view().as<std::uint8_t>()[i] = sees ? 1 : 0;
    }
    expect_attention(problem, Mask::allow(std::move(flags)));
  }
}

TEST(Attention, UnmaskedKeysAreSeenByEveryQuery) {
  AttentionProblem problem = problem_of({1, 6, 9, 2, 2, 4, 4});
  problem.options.unmasked_keys = 2;
  problem.visible = [](auto, auto, std::size_t t, std::size_t s) { return s >= 7 || s <= t; };
  expect_attention(problem, Mask::causal());
}

TEST(Attention, HugeScoresStayRight) {
  AttentionProblem problem = problem_of({1, 4, 20, 1, 1, 4, 4});
  for (std::size_t i = 0; i < problem.queries.elements(); ++i) problem.queries.f32()[i] *= 1e15f;
  for (std::size_t i = 0; i < problem.keys.elements(); ++i) problem.keys.f32()[i] *= 1e15f;
  const Tensor output = attend(problem, Mask());
  // Only the largest score has weight.
  const NaiveAttention twin = naive_attention(problem);
  expect_close("output", output.view().reshaped({output.elements()}), twin.output, Bound{1e-5});
}

TEST(Attention, EqualKeysGiveTheMeanOfTheValues) {
  AttentionProblem problem = problem_of({1, 5, 16, 1, 1, 4, 4});
  std::fill_n(problem.keys.f32(), problem.keys.elements(), 0.7f);
  Trace trace;
  trace.capture("hook_pattern");
  attend(problem, Mask(), &trace);
  EXPECT_EQ(Numbers(trace.at("hook_pattern")).values, std::vector<double>(5 * 16, 1.0 / 16.0));
}

// Sequences and heads are independent: a batch has the same bits as its rows.
TEST(Attention, ASequenceHasTheSameBitsAloneAndInABatch) {
  const AttentionSizes sizes{3, 60, 60, 2, 1, 6, 5};
  const AttentionProblem whole = problem_of(sizes);
  const Tensor all = attend(whole, Mask::causal());
  for (std::size_t b = 0; b < sizes.batch; ++b) {
    const auto sequence = [b](const Tensor& x) {
      const std::size_t count = x.elements() / x.dim(0);
      return Tensor::copy_of({x.f32() + b * count, DType::f32, {1, x.dim(1), x.dim(2), x.dim(3)}});
    };
    AttentionProblem alone;
    alone.queries = sequence(whole.queries);
    alone.keys = sequence(whole.keys);
    alone.values = sequence(whole.values);
    alone.options = whole.options;
    expect_same_bits("sequence", attend(alone, Mask::causal()), sequence(all));
  }
}

TEST(Attention, OperandsThatDoNotFitAreRefused) {
  const auto refuse = [](AttentionSizes queries, AttentionSizes keys) {
    AttentionProblem problem = problem_of(queries);
    AttentionProblem other = problem_of(keys);
    problem.keys = std::move(other.keys);
    problem.values = std::move(other.values);
    expect_error(ErrorCode::shape_mismatch, {"attention", "batch"},
                 [&] { attend(problem, Mask()); });
  };
  refuse({2, 3, 3, 4, 4, 8, 8}, {1, 3, 3, 4, 4, 8, 8});  // batch
  refuse({2, 3, 3, 4, 4, 8, 8}, {2, 3, 3, 4, 4, 7, 8});  // head size
  refuse({2, 3, 3, 4, 4, 8, 8}, {2, 3, 3, 4, 3, 8, 8});  // 3 groups do not divide 4 heads
  refuse({2, 3, 3, 2, 2, 8, 8}, {2, 3, 3, 4, 4, 8, 8});  // more groups than heads
  expect_error(ErrorCode::shape_mismatch, {"attention", "mask", "[5]", "[1, 1, 3, 4]"}, [] {
    attend(problem_of({1, 3, 4, 1, 1, 2, 2}), Mask::allow(Tensor::zeros({5}, DType::u8)));
  });
}

}  // namespace
}  // namespace clearformer::test
