#include "support/naive_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/rounded_rows.h"

namespace clearformer::test {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// A score, and the error bound of the layer's.
struct Score {
  double value;
  double error;
};

// Sums of d terms have d roundings each, the terms themselves up to eight (tanh, products, the
// differences), the scale one more; softcap has a slope of at most 1 and a few roundings of its own.
Score score(const AttentionProblem& problem, const float* query, const float* key) {
  const AttentionOptions& options = problem.options;
  using kernels::PairwiseKernel;
  const std::size_t width = problem.queries.dim(3);
  double sum = 0.0, magnitudes = 0.0;
  for (std::size_t i = 0; i < width; ++i) {
    const double q = query[i], k = key[i];
    double term = q * k, magnitude = std::abs(term);
    if (options.score.pairwise == PairwiseKernel(kernels::squared_distances)) {
      term = (q - k) * (q - k);
      magnitude = term;
    } else if (options.score.pairwise == PairwiseKernel(kernels::additive_scores)) {
      term = options.score.weights[i] * std::tanh(q + k);
      magnitude = std::abs(double{options.score.weights[i]}) * (1.0 + std::abs(q + k));
    }
    sum += term;
    magnitudes += magnitude;
  }
  Score result{sum * options.score.scale, gamma(static_cast<double>(width) + 9.0) * magnitudes *
                                              std::abs(options.score.scale)};
  if (options.softcap > 0.0f) {
    result.value = options.softcap * std::tanh(result.value / options.softcap);
    result.error += gamma(8) * std::abs(result.value);
  }
  return result;
}

// One row of weights. A score error of e changes a weight by the fraction exp(2e) - 1; the rest is
// softmax's own (see kernels/softmax_test.cpp).
void weigh(const std::vector<Score>& scores, const AttentionOptions& options, double* pattern,
           double* bounds) {
  double top = kMinusInfinity, sum = 0.0, error = 0.0, spread = 0.0;
  for (const Score& entry : scores) top = std::max(top, entry.value);
  const double count = static_cast<double>(scores.size());
  for (std::size_t s = 0; s < scores.size(); ++s) {
    pattern[s] = std::exp(scores[s].value - top);
    if (std::isinf(top)) pattern[s] = options.empty_row == EmptyRow::uniform ? 1.0 : 0.0;
    sum += pattern[s];
    if (std::isinf(scores[s].value)) continue;
    error = std::max(error, scores[s].error);
    spread = std::max(spread, std::min(88.0, top - scores[s].value));
  }
  const double relative = std::expm1(2.0 * error) + gamma(2.0 * (spread + 4.0) + count + 2.0);
  for (std::size_t s = 0; s < scores.size(); ++s) {
    if (sum > 0.0) pattern[s] /= sum;
    bounds[s] = pattern[s] == 0.0 ? 0.0 : relative * pattern[s] + FLT_MIN;
    if (!std::isinf(scores[s].value)) bounds[s] += FLT_MIN;
  }
}

std::vector<Score> row_of_scores(const AttentionProblem& problem, const float* all_keys,
                                 std::size_t b, std::size_t h, std::size_t t) {
  const std::size_t keys = problem.key_length(), groups = problem.keys.dim(2);
  const std::size_t width = problem.queries.dim(3), g = h / (problem.heads() / groups);
  const float* query =
      problem.queries.f32() + ((b * problem.length() + t) * problem.heads() + h) * width;
  std::vector<Score> scores;
  for (std::size_t s = 0; s < keys; ++s) {
    Score entry = score(problem, query, all_keys + ((b * keys + s) * groups + g) * width);
    if (problem.added) {
      entry.value += problem.added(b, h, t, s);
      if (!std::isinf(entry.value)) entry.error += gamma(2) * std::abs(entry.value);
    }
    if (problem.visible && !problem.visible(b, h, t, s)) entry.value = kMinusInfinity;
    scores.push_back(entry);
  }
  return scores;
}

// output(b, t, h, :) = Σ_s pattern(s)·v(s): the weights' errors, S roundings of the sum, and two of a scale of v(s).
void gather(const AttentionProblem& problem, const float* values, std::size_t b, std::size_t h,
            const double* pattern, const double* pattern_bounds, double* output, double* bounds) {
  const std::size_t keys = problem.key_length(), groups = problem.values.dim(2);
  const std::size_t width = problem.values.dim(3), g = h / (problem.heads() / groups);
  for (std::size_t s = 0; s < keys; ++s) {
    const float* value = values + ((b * keys + s) * groups + g) * width;
    for (std::size_t i = 0; i < width; ++i) {
      const double size = std::abs(double{value[i]});
      output[i] += pattern[s] * value[i];
      bounds[i] += (pattern_bounds[s] + gamma(static_cast<double>(keys) + 3.0) * pattern[s]) * size;
    }
  }
}

}  // namespace

NaiveAttention naive_attention(const AttentionProblem& problem) {
  const std::size_t heads = problem.heads(), length = problem.length(), keys = problem.key_length();
  const std::size_t width = problem.values.dim(3), rows = problem.batch() * heads * length;
  const Tensor all_keys = rounded(problem.keys, problem.format);
  const Tensor values = rounded(problem.values, problem.format);
  NaiveAttention result;
  result.pattern.resize(rows * keys);
  result.pattern_bounds.resize(rows * keys);
  result.output.resize(rows * width);
  result.output_bounds.resize(rows * width);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t t = row % length, h = row / length % heads, b = row / length / heads;
    double* pattern = result.pattern.data() + row * keys;
    double* bounds = result.pattern_bounds.data() + row * keys;
    weigh(row_of_scores(problem, all_keys.f32(), b, h, t), problem.options, pattern, bounds);
    const std::size_t at = ((b * length + t) * heads + h) * width;
    gather(problem, values.f32(), b, h, pattern, bounds, result.output.data() + at,
           result.output_bounds.data() + at);
  }
  return result;
}

Tensor attend(const AttentionProblem& problem, const Mask& mask, Trace* trace) {
  Arena arena;
  const Context context{arena, TraceScope(trace)};
  const PackedKeyValues packed = packed_in(arena, positions_first(problem.keys),
                                           positions_first(problem.values), problem.format);
  Tensor output({problem.batch(), problem.length(), problem.heads(), problem.values.dim(3)});
  attention(positions_first(problem.queries), packed, mask, problem.options,
            positions_first_mutable(output), context);
  return output;
}

void expect_attention(const AttentionProblem& problem, const Mask& mask) {
  const NaiveAttention expected = naive_attention(problem);
  const Tensor output = attend(problem, mask);
  Numbers twin(expected.output);
  twin.shape = output.shape();
  expect_close("output", output, twin, expected.output_bounds);
  Trace trace;
  trace.capture("*");
  expect_same_bits("traced output", attend(problem, mask, &trace), output);
  Numbers pattern(expected.pattern);
  pattern.shape = {problem.batch(), problem.heads(), problem.length(), problem.key_length()};
  expect_close("hook_pattern", trace.at("hook_pattern"), pattern, expected.pattern_bounds);
}

}  // namespace clearformer::test
