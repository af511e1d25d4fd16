// Relative positions: biases on the attention scores that depend on the distance between query and key.
//   ALiBi   bias(h, t, s) = -m_h · |p_t - s|,  m_h = 2^(-8h/H), h = 1 … H, for H a power of two;
//           otherwise the slopes of the next lower power of two, then every other slope of twice that power
//   T5      bias(h, t, s) = table(bucket(s - p_t), h): one bucket per short distance, then buckets
//           of logarithmically growing width, up to max_distance
// with p_t = t + query_offset, the query's position among the keys. In models ALiBi is a bias of the keys alone,
//   bias(h, s) = m_h · p_s
// which differs from the above, for keys up to the query, by a number for each query: softmax cancels it.
// Sources: Press et al. 2021, arXiv 2108.12409; Raffel et al. 2019, arXiv 1910.10683, section 2.1.
// Shapes: H heads, T queries, S keys. Both give (1, H, T, S), for Mask::additive.
#pragma once

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The queries query_offset … query_offset + queries - 1 against the keys 0 … keys - 1. With a
/// cache the offset is the number of cached positions. The last query's position must be below 2^63 - 1.
struct RelativeSpan {
  std::size_t queries = 0;
  std::size_t keys = 0;
  std::size_t query_offset = 0;
};

/// m (H), for any number of heads; throws invalid_argument for 0.
Tensor alibi_slopes(std::size_t num_heads);

/// (1, H, T, S)
Tensor alibi_bias(std::size_t num_heads, const RelativeSpan& span);

/// ALiBi in a model.
struct AlibiConfig {
  /// The positions of keys: their index, or the number of tokens before them that are not padding (BLOOM, Falcon).
  enum class Counts { all, tokens } counts = Counts::all;
  double scale = 1.0;     // of the bias: 1/√d in Falcon
  bool bfloat16 = false;  // slopes, positions and their products are rounded to bfloat16 (Falcon)
};

/// The bias of each key, (1, H, 1, S), for `keys` keys; with Counts::tokens and a mask (B, S) of uint8, 0 = padding,
/// (B, H, 1, S).
Tensor alibi_key_bias(const AlibiConfig& config, std::size_t num_heads, std::size_t keys,
                      const TensorView* mask);

/// T5's buckets: distances in the same bucket share a bias.
struct RelativeBuckets {
  /// bidirectional: half of the buckets are for keys after the query; causal: those share bucket 0.
  enum class Direction { bidirectional, causal };

  std::size_t num_buckets = 32;
  std::size_t max_distance = 128;  // distances from here on share the last bucket
  Direction direction = Direction::bidirectional;
};

/// Buckets (…) of int32 for relative positions (…) of int32, key minus query.
Tensor relative_position_bucket(const TensorView& relative_positions,
                                const RelativeBuckets& buckets);

/// (1, H, T, S) from a learned table (buckets, H).
Tensor relative_position_bias(const TensorView& table, const RelativeBuckets& buckets,
                              const RelativeSpan& span);

/// The backward pass of relative_position_bias(): from d (1, H, T, S), adds the gradient of the table to d_table
/// (buckets, H). Accumulated in double, in a fixed order.
void relative_position_bias_backward(const TensorView& d, const RelativeBuckets& buckets,
                                     const RelativeSpan& span, float* d_table);

}  // namespace clearformer
