// The naive twin of attention: full score matrices, plain loops in double, and an error bound for every
// element derived from the lengths of the sums.
#pragma once

#include <functional>

#include "clearformer/layers/attention.h"

namespace clearformer::test {

struct AttentionProblem {
  Tensor queries;  // (B, T, H, d)
  Tensor keys;     // (B, S, G, d)
  Tensor values;   // (B, S, G, d_v)
  AttentionOptions options;
  CacheFormat format = CacheFormat::f32;  // what keys and values are stored in
  /// Whether query t of head h in sequence b may attend to key s; none: always.
  std::function<bool(std::size_t b, std::size_t h, std::size_t t, std::size_t s)> visible;
  /// A bias added to the score; none: 0.
  std::function<double(std::size_t b, std::size_t h, std::size_t t, std::size_t s)> added;

  std::size_t batch() const { return queries.dim(0); }
  std::size_t length() const { return queries.dim(1); }
  std::size_t heads() const { return queries.dim(2); }
  std::size_t key_length() const { return keys.dim(1); }
};

struct NaiveAttention {
  std::vector<double> pattern, pattern_bounds;  // (B, H, T, S)
  std::vector<double> output, output_bounds;    // (B, T, H, d_v)
};
NaiveAttention naive_attention(const AttentionProblem& problem);

/// The layer's output (B, T, H, d_v).
Tensor attend(const AttentionProblem& problem, const Mask& mask, Trace* trace = nullptr);

/// Runs the layer with and without trace: same bits, both within the bounds of the naive twin.
void expect_attention(const AttentionProblem& problem, const Mask& mask);

}  // namespace clearformer::test
