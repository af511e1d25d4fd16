#include "clearformer/layers/relative_position.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/rounding.h"

namespace clearformer {

namespace {

std::vector<double> slopes(std::size_t num_heads) {
  if (num_heads == 0) fail(ErrorCode::invalid_argument, "alibi: the number of heads must be > 0");
  const std::size_t power = std::bit_floor(num_heads);
  std::vector<double> slope;
  slope.reserve(room_for(num_heads));
  for (std::size_t head = 0; head < num_heads; ++head) {
    const bool own = head < power;
    const auto step = static_cast<double>(own ? head + 1 : 2 * (head - power) + 1);
    slope.push_back(portable_pow(2.0, (own ? -8.0 : -4.0) * step / static_cast<double>(power)));
  }
  return slope;
}

// The bucket of a key `relative` positions after (> 0) or before (< 0) its query.
class Buckets {
 public:
  explicit Buckets(const RelativeBuckets& config)
      : bidirectional_(config.direction == RelativeBuckets::Direction::bidirectional),
        count_(static_cast<std::int64_t>(config.num_buckets / (bidirectional_ ? 2 : 1))),
        exact_(count_ / 2) {
    constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
    if (exact_ == 0 || config.num_buckets > kMost) {
      fail(ErrorCode::invalid_argument, "relative positions: at least ", bidirectional_ ? 4 : 2,
           " buckets are needed, at most ", kMost, ", there are ", config.num_buckets);
    }
    if (config.max_distance == 0) {
      fail(ErrorCode::invalid_argument, "relative positions: max_distance is 0");
    }
    log_range_ = static_cast<float>(
        portable_log(static_cast<double>(config.max_distance) / static_cast<double>(exact_)));
  }

  std::int32_t of(std::int64_t relative) const {
    const std::int64_t first = bidirectional_ && relative > 0 ? count_ : 0;
    std::int64_t distance = std::max<std::int64_t>(-relative, 0);
    if (bidirectional_ && relative > 0) distance = relative;
    if (distance < exact_) return static_cast<std::int32_t>(first + distance);
    // In float32, as in transformers: at exact powers the bucket depends on the rounding.
    const float ratio = static_cast<float>(distance) / static_cast<float>(exact_);
    const auto log = static_cast<float>(portable_log(static_cast<double>(ratio)));
    const float wide = log / log_range_ * static_cast<float>(count_ - exact_);
    // If max_distance does not exceed the exact distances, large ones may have no bucket.
    const float least = -static_cast<float>(first + exact_);
    if (!(wide > least - 1.0f && wide < 1e9f)) {
      fail(ErrorCode::invalid_argument, "relative positions: distance ", distance,
           " has no bucket; max_distance should exceed the ", exact_,
           " distances that have buckets of their own");
    }
    const std::int64_t bucket = exact_ + static_cast<std::int64_t>(wide);
    return static_cast<std::int32_t>(first + std::min(bucket, count_ - 1));
  }

 private:
  bool bidirectional_;
  std::int64_t count_;  // buckets per direction
  std::int64_t exact_;  // distances with a bucket of their own
  float log_range_ = 0.0f;
};

// Positions are numbers with a sign here, as their differences are.
std::int64_t end_of_queries(const RelativeSpan& span) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t queries = span.queries, offset = span.query_offset;
  if (queries <= kMost && offset <= kMost - queries) {
    return static_cast<std::int64_t>(offset + queries);
  }
  fail(ErrorCode::invalid_argument, "relative positions: query_offset ", offset, " and ", queries,
       " queries exceed the largest position, ", kMost);
}

// The bucket of each relative position that occurs, starting with the last query's first key.
class BucketRows {
 public:
  BucketRows(const Buckets& bucket, const RelativeSpan& span)
      : nearest_(1 - end_of_queries(span)),
        rows_(span.queries == 0 || span.keys == 0 ? 0 : room_for(span.queries + span.keys - 1)) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rows_[i] = static_cast<std::size_t>(bucket.of(nearest_ + static_cast<std::int64_t>(i)));
    }
  }
  std::size_t of(std::int64_t relative) const {
    return rows_[static_cast<std::size_t>(relative - nearest_)];
  }

 private:
  std::int64_t nearest_;
  std::vector<std::size_t> rows_;
};

// For (1, H, T, S); allocated first, so that absurd sizes end here.
Tensor bias_for(std::size_t num_heads, const RelativeSpan& span) {
  return Tensor({1, num_heads, span.queries, span.keys});
}

// Fills (1, H, T, S) with value(head, s - p_t).
template <class Value>
void fill(Tensor& bias, const RelativeSpan& span, Value value) {
  if (bias.elements() == 0) return;
  float* to = bias.f32();
  const std::int64_t end = end_of_queries(span);
  for (std::size_t row = 0; row < bias.dim(1) * span.queries; ++row) {
    const std::size_t head = row / span.queries;
    const std::int64_t position =
        end - static_cast<std::int64_t>(span.queries - row % span.queries);
    for (std::size_t key = 0; key < span.keys; ++key) {
      *to++ = value(head, static_cast<std::int64_t>(key) - position);
    }
  }
}

}  // namespace

Tensor alibi_slopes(std::size_t num_heads) {
  const std::vector<double> slope = slopes(num_heads);
  Tensor values({num_heads});
  std::copy(slope.begin(), slope.end(), values.f32());
  return values;
}

Tensor alibi_bias(std::size_t num_heads, const RelativeSpan& span) {
  Tensor bias = bias_for(num_heads, span);
  const std::vector<double> slope = slopes(num_heads);
  fill(bias, span, [&](std::size_t head, std::int64_t relative) {
    return static_cast<float>(-slope[head] * std::abs(static_cast<double>(relative)));
  });
  return bias;
}

Tensor alibi_key_bias(const AlibiConfig& config, std::size_t num_heads, std::size_t keys,
                      const TensorView* mask) {
  const bool counts_tokens = config.counts == AlibiConfig::Counts::tokens && mask != nullptr;
  if (counts_tokens && (mask->shape().rank() != 2 || mask->dim(1) != keys)) {
    fail(ErrorCode::shape_mismatch, "alibi: mask of shape ", mask->shape().text(),
         ", expected [batch, ", keys, "]");
  }
  const std::size_t batch = counts_tokens ? mask->dim(0) : 1;
  const auto rounded = [&](float value) {
    return config.bfloat16 ? float_from_bf16(bf16_from_float(value)) : value;
  };
  const Tensor slope = alibi_slopes(num_heads);
  Tensor bias({batch, num_heads, 1, keys});
  float* to = bias.f32();
  for (std::size_t row = 0; row < batch; ++row) {
    const std::uint8_t* token = counts_tokens ? mask->as<std::uint8_t>() + row * keys : nullptr;
    for (std::size_t head = 0; head < num_heads; ++head) {
      const float m = rounded(slope.f32()[head]);
      std::size_t position = 0;
      for (std::size_t key = 0; key < keys; ++key) {
        const float product = rounded(m * rounded(static_cast<float>(position)));
        *to++ = static_cast<float>(static_cast<double>(product) * config.scale);
        position += token == nullptr || token[key] != 0 ? 1 : 0;
      }
    }
  }
  return bias;
}

Tensor relative_position_bucket(const TensorView& relative_positions,
                                const RelativeBuckets& buckets) {
  const Buckets bucket(buckets);
  const std::int32_t* relative = relative_positions.as<std::int32_t>();
  Tensor result(relative_positions.shape(), DType::i32);
  std::transform(relative, relative + relative_positions.elements(),
                 result.mutable_view().as<std::int32_t>(),
                 [&](std::int32_t distance) { return bucket.of(distance); });
  return result;
}

Tensor relative_position_bias(const TensorView& table, const RelativeBuckets& buckets,
                              const RelativeSpan& span) {
  const Buckets bucket(buckets);
  if (table.shape().rank() != 2 || table.dim(0) != buckets.num_buckets) {
    fail(ErrorCode::shape_mismatch, "relative positions: table of shape ", table.shape().text(),
         ", expected [", buckets.num_buckets, ", heads]");
  }
  const float* const rows = table.f32();
  const std::size_t num_heads = table.dim(1);
  Tensor bias = bias_for(num_heads, span);
  const BucketRows row(bucket, span);
  fill(bias, span, [&](std::size_t head, std::int64_t relative) {
    return rows[row.of(relative) * num_heads + head];
  });
  return bias;
}

void relative_position_bias_backward(const TensorView& d, const RelativeBuckets& buckets,
                                     const RelativeSpan& span, float* d_table) {
  const std::size_t num_heads = d.shape().rank() == 4 ? d.dim(1) : 0;
  if (!(d.shape() == Shape{1, num_heads, span.queries, span.keys})) {
    fail(ErrorCode::shape_mismatch, "relative positions: gradient of shape ", d.shape().text(),
         ", expected [1, heads, ", span.queries, ", ", span.keys, "]");
  }
  const BucketRows row(Buckets(buckets), span);
  const std::int64_t end = end_of_queries(span);
  std::vector<double> sums(buckets.num_buckets * num_heads);
  const float* from = d.f32();
  for (std::size_t i = 0; i < num_heads * span.queries * span.keys; ++i) {
    const std::size_t key = i % span.keys, query = i / span.keys % span.queries;
    const auto relative = static_cast<std::int64_t>(key + span.queries - query) - end;
    sums[row.of(relative) * num_heads + i / (span.keys * span.queries)] += from[i];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) d_table[i] += static_cast<float>(sums[i]);
}

}  // namespace clearformer
