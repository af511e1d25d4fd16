// ALiBi for 1 to 13 heads, T5's buckets and bias, both with a query offset.
#include "clearformer/layers/relative_position.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <set>

#include "clearformer/layers/masking.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

const Fixture& relative_references() {
  static const Fixture fixture("positions");
  return fixture;
}

// [queries, keys]; the queries are the last positions.
RelativeSpan span_option(const Case& reference, const std::string& name) {
  const auto& sizes = reference.option(name).array();
  const auto queries = static_cast<std::size_t>(sizes[0].number());
  const auto keys = static_cast<std::size_t>(sizes[1].number());
  return {queries, keys, keys - queries};
}

// (1, H, T, S) without the first axis
TensorView without_batch(const Tensor& bias) {
  return bias.view().reshaped({bias.dim(1), bias.dim(2), bias.dim(3)});
}

// Two values in double, each rounded to float: at most adjacent.
constexpr Bound kRounded{0.0, 2 * kRoundoff, 0.0};

TEST(Alibi, SlopesAndBiasAreTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : relative_references().of_op("alibi")) {
    SCOPED_TRACE(reference->name());
    const std::size_t heads = reference->size_option("num_heads");
    expect_close("slopes", alibi_slopes(heads), reference->output("slopes"), kRounded);
    for (const char* name : {"bias_square", "bias_cached"}) {
      const Tensor bias = alibi_bias(heads, span_option(*reference, name));
      EXPECT_EQ(bias.dim(0), 1u);
      expect_close(name, without_batch(bias), reference->output(name), kRounded);
    }
    ++cases;
  }
  EXPECT_EQ(cases, 13u);
}

TEST(Alibi, ManyHeadsHaveDistinctSlopesBetweenZeroAndOne) {
  for (const std::size_t heads : {16, 31, 64, 100}) {
    const Tensor slopes = alibi_slopes(heads);
    EXPECT_EQ(std::set<float>(slopes.f32(), slopes.f32() + heads).size(), heads);
    for (std::size_t head = 0; head < heads; ++head) {
      EXPECT_GT(slopes.f32()[head], 0.0f);
      EXPECT_LT(slopes.f32()[head], 1.0f);
    }
  }
}

// A query's scores differ by one number, which softmax cancels.
TEST(Alibi, TheBiasOfKeysAloneIsThatOfDistancesUpToANumberForEachQuery) {
  constexpr std::size_t kHeads = 3, kKeys = 7;
  const Tensor of_keys = alibi_key_bias({}, kHeads, kKeys, nullptr);
  const Tensor of_pairs = alibi_bias(kHeads, {kKeys, kKeys, 0});
  for (std::size_t head = 0; head < kHeads; ++head) {
    const float* key = of_keys.f32() + head * kKeys;
    for (std::size_t query = 0; query < kKeys; ++query) {
      const float* pair = of_pairs.f32() + (head * kKeys + query) * kKeys;
      for (std::size_t s = 0; s <= query; ++s) {
        EXPECT_NEAR(key[s] - key[query], pair[s] - pair[query], 1e-6f);
      }
    }
  }
}

TEST(Alibi, PositionsMayCountTokensAndBeRounded) {
  Tensor mask({2, 4}, DType::u8);
  const std::uint8_t flags[] = {0, 0, 1, 1, 1, 1, 0, 1};
  std::copy(flags, flags + 8, mask.mutable_view().as<std::uint8_t>());
  const TensorView view = mask;
  const AlibiConfig counted{.counts = AlibiConfig::Counts::tokens, .scale = 0.5};
  const Tensor bias = alibi_key_bias(counted, 2, 4, &view);
  EXPECT_EQ(bias.shape(), (Shape{2, 2, 1, 4}));
  const float slope = 0.0625f * 0.5f;       // of the first head, 2^(-8/2)
  EXPECT_EQ(bias.f32()[3], slope);          // the second token
  EXPECT_EQ(bias.f32()[8 + 3], 2 * slope);  // the third
  EXPECT_EQ(alibi_key_bias(counted, 2, 4, nullptr).f32()[3], 3 * slope);
  const AlibiConfig rounded{.bfloat16 = true};
  EXPECT_EQ(alibi_key_bias(rounded, 1, 260, nullptr).f32()[257], 1.0f);  // 256/256
}

RelativeBuckets buckets_of(const Case& reference) {
  using Direction = RelativeBuckets::Direction;
  const bool both = reference.option("bidirectional").boolean();
  return {reference.size_option("num_buckets"), reference.size_option("max_distance"),
          both ? Direction::bidirectional : Direction::causal};
}

TEST(RelativePosition, EveryBucketIsTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : relative_references().of_op("relative_position_bucket")) {
    SCOPED_TRACE(reference->name());
    const Tensor distances = reference->int32_input("relative_position");
    const Tensor found = relative_position_bucket(distances, buckets_of(*reference));
    const auto* bucket = found.view().as<std::int32_t>();
    EXPECT_EQ(std::vector<std::int32_t>(bucket, bucket + found.elements()),
              reference->int32_output("bucket"));
    ++cases;
  }
  EXPECT_EQ(cases, 10u);
}

TEST(RelativePosition, BucketsOfAnySizeAreInRangeAndGrowWithTheDistance) {
  using Direction = RelativeBuckets::Direction;
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  Tensor distances({6}, DType::i32);
  std::int32_t* distance = distances.mutable_view().as<std::int32_t>();
  const std::int32_t values[] = {-most - 1, -100, -1, 0, 100, most};
  std::copy(std::begin(values), std::end(values), distance);
  for (std::size_t buckets = 4; buckets <= 40; ++buckets) {
    for (const std::size_t farthest : {buckets, 3 * buckets, 100 * buckets}) {
      for (const Direction direction : {Direction::bidirectional, Direction::causal}) {
        const Tensor found = relative_position_bucket(distances, {buckets, farthest, direction});
        const auto* bucket = found.view().as<std::int32_t>();
        for (std::size_t i = 0; i < 6; ++i) {
          EXPECT_GE(bucket[i], 0);
          EXPECT_LT(bucket[i], static_cast<std::int32_t>(buckets));
        }
        EXPECT_EQ(bucket[3], 0);
        EXPECT_GE(bucket[0], bucket[1]);
        EXPECT_GE(bucket[1], bucket[2]);
        EXPECT_GE(bucket[2], 1);
        EXPECT_EQ(bucket[4] > 0, direction == Direction::bidirectional);
      }
    }
  }
}

TEST(RelativePosition, EveryBiasIsTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : relative_references().of_op("relative_position_bias")) {
    SCOPED_TRACE(reference->name());
    const RelativeSpan span{reference->size_option("query_length"),
                            reference->size_option("key_length"),
                            reference->size_option("query_offset")};
    const Tensor bias =
        relative_position_bias(reference->input("table"), buckets_of(*reference), span);
    const Tensor& expected = reference->output("bias");
    EXPECT_EQ(bias.elements(), expected.elements());
    expect_same_bits("bias", bias.view().reshaped(expected.shape()), expected);
    ++cases;
  }
  EXPECT_EQ(cases, 8u);
}

// The rows of a decoding step equal those of the whole pass.
TEST(RelativePosition, AnOffsetGivesTheLastRows) {
  Random random(5);
  const Tensor table = random.tensor({8, 3});
  const RelativeBuckets buckets{8, 20, RelativeBuckets::Direction::causal};
  const Tensor whole = relative_position_bias(table, buckets, {9, 9, 0});
  const Tensor whole_alibi = alibi_bias(3, {9, 9, 0});
  for (std::size_t past = 0; past < 9; ++past) {
    const Tensor step = relative_position_bias(table, buckets, {9 - past, 9, past});
    const Tensor step_alibi = alibi_bias(3, {9 - past, 9, past});
    for (std::size_t head = 0; head < 3; ++head) {
      for (std::size_t i = 0; i < (9 - past) * 9; ++i) {
        EXPECT_EQ(step.f32()[head * (9 - past) * 9 + i], whole.f32()[head * 81 + past * 9 + i]);
        EXPECT_EQ(step_alibi.f32()[head * (9 - past) * 9 + i],
                  whole_alibi.f32()[head * 81 + past * 9 + i]);
      }
    }
  }
}

TEST(RelativePosition, AnyOffsetHasItsDistancesOrIsRefused) {
  const Tensor table = Random(6).tensor({8, 1});
  const RelativeBuckets buckets{8, 20, RelativeBuckets::Direction::causal};
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  constexpr std::uint64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const Tensor d = Tensor::zeros({1, 1, 3, 2});
  float sums[8] = {};
  for (const std::uint64_t offset : {std::uint64_t{1} << 31, std::uint64_t{kMost} - 3, kEnd - 3}) {
    if (offset > kMost) continue;
    const RelativeSpan span{3, 2, static_cast<std::size_t>(offset)};
    if (offset > kEnd - 3) {
      for (const auto& work : std::initializer_list<std::function<void()>>{
               [&] { alibi_bias(1, span); }, [&] { relative_position_bias(table, buckets, span); },
               [&] { relative_position_bias_backward(d, buckets, span, sums); }}) {
        expect_error(ErrorCode::invalid_argument, {"query_offset", concat(offset)}, work);
      }
      continue;
    }
    const Tensor alibi = alibi_bias(1, span), bias = relative_position_bias(table, buckets, span);
    relative_position_bias_backward(d, buckets, span, sums);
    for (std::size_t i = 0; i < 6; ++i) {
      const auto distance = static_cast<double>(offset + i / 2 - i % 2);
      EXPECT_EQ(alibi.f32()[i], static_cast<float>(-distance * alibi_slopes(1).f32()[0]));
      EXPECT_EQ(bias.f32()[i], table.f32()[7]);
    }
  }
}

TEST(RelativePosition, BothAreMasks) {
  const Mask alibi = Mask::additive(alibi_bias(3, {2, 5, 3}));
  alibi.check("test", 4, 3, 2, 5);
  float scores[5] = {};
  alibi.apply(1, 0, 1, scores, 5);
  EXPECT_EQ(scores[4], 0.0f);
  EXPECT_EQ(scores[3], -alibi_slopes(3).f32()[0]);
  Mask::additive(relative_position_bias(Tensor::zeros({8, 3}), {8, 20}, {2, 5, 3}))
      .check("test", 4, 3, 2, 5);
}

TEST(RelativePosition, EmptySpansGiveEmptyTensors) {
  EXPECT_EQ(alibi_bias(2, {0, 4, 0}).shape(), (Shape{1, 2, 0, 4}));
  const Tensor table = Tensor::zeros({8, 3});
  EXPECT_EQ(relative_position_bias(table, {8, 20}, {0, 0, 0}).elements(), 0u);
  EXPECT_EQ(relative_position_bias(table, {8, 20}, {2, 0, 0}).elements(), 0u);
}

// At exact powers the bucket depends on a rounding: transformers rounds to float32.
// These are its buckets for 9 buckets up to a distance of 128.
TEST(RelativePosition, ExactPowersFallIntoTransformersBuckets) {
  const std::pair<int, int> expected[] = {{4, 4}, {7, 4}, {8, 5}, {16, 6}, {32, 7}, {64, 8}};
  for (const auto& [distance, bucket] : expected) {
    Tensor relative({1}, DType::i32);
    relative.mutable_view().as<std::int32_t>()[0] = -distance;
    const Tensor found =
        relative_position_bucket(relative, {9, 128, RelativeBuckets::Direction::causal});
    EXPECT_EQ(found.view().as<std::int32_t>()[0], bucket) << distance;
  }
}

TEST(RelativePosition, RefusalsNameTheRuleAndTheValue) {
  const auto invalid = ErrorCode::invalid_argument;
  expect_error(invalid, {"alibi", "heads"}, [] { alibi_slopes(0); });
  expect_error(invalid, {"alibi", "heads"}, [] { alibi_bias(0, {1, 1, 0}); });
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  expect_error(ErrorCode::out_of_memory, {}, [] { alibi_slopes(kMost); });
  const Tensor none({0}, DType::i32);
  expect_error(invalid, {"relative positions", "4 buckets", "3"},
               [&] { relative_position_bucket(none, {3, 20}); });
  expect_error(invalid, {"relative positions", "2 buckets", "1"}, [&] {
    relative_position_bucket(none, {1, 20, RelativeBuckets::Direction::causal});
  });
  for (const auto direction :
       {RelativeBuckets::Direction::bidirectional, RelativeBuckets::Direction::causal}) {
    expect_error(invalid, {"relative positions", "at most 2147483647"},
                 [&] { relative_position_bucket(none, {kMost, 20, direction}); });
  }
  expect_error(invalid, {"max_distance", "0"}, [&] { relative_position_bucket(none, {32, 0}); });
  Tensor far({1}, DType::i32);
  far.mutable_view().as<std::int32_t>()[0] = -9;  // log(9 / 8) / log(8 / 8)
  expect_error(invalid, {"distance 9", "max_distance", "8 distances"},
               [&] { relative_position_bucket(far, {32, 8}); });
  expect_error(ErrorCode::dtype_mismatch, {},
               [] { relative_position_bucket(Tensor({2}), {32, 128}); });
  expect_error(ErrorCode::shape_mismatch, {"[7, 3]", "[8, heads]"},
               [] { relative_position_bias(Tensor({7, 3}), {8, 20}, {2, 2, 0}); });
  expect_error(ErrorCode::shape_mismatch, {"[8]", "[8, heads]"},
               [] { relative_position_bias(Tensor({8}), {8, 20}, {2, 2, 0}); });
}

TEST(RelativePosition, MasksAndGradientsThatDoNotFitAreRefused) {
  AlibiConfig counting;
  counting.counts = AlibiConfig::Counts::tokens;
  for (const Shape& shape : {Shape{1, 3}, Shape{5}, Shape{}}) {
    const Tensor mask = Tensor::zeros(shape, DType::u8);
    const TensorView view = mask.view();
    expect_error(ErrorCode::shape_mismatch, {"alibi", shape.text(), "[batch, 5]"},
                 [&] { alibi_key_bias(counting, 2, 5, &view); });
  }
  float d_table[64] = {};
  for (const Shape& shape : {Shape{1, 2, 1, 1}, Shape{2, 2, 4, 3}, Shape{2, 4, 3}}) {
    expect_error(ErrorCode::shape_mismatch, {"gradient", shape.text(), "[1, heads, 4, 3]"}, [&] {
      relative_position_bias_backward(Tensor::zeros(shape), {}, {4, 3, 0}, d_table);
    });
  }
}

}  // namespace
}  // namespace clearformer::test
