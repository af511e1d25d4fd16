#include "support/naive_attention_backward.h"

#include <cmath>

namespace clearformer::test {

namespace {

using kernels::PairwiseKernel;

// The gradients of one query and one key, from that of their score.
void add_pair(const AttentionProblem& problem, double d, const float* query, const float* key,
              double* dquery, double* dkey, double* dweights) {
  const AttentionOptions& options = problem.options;
  const std::size_t width = problem.queries.dim(3);
  double score = 0.0;
  const auto distance = PairwiseKernel(kernels::squared_distances);
  const auto additive = PairwiseKernel(kernels::additive_scores);
  for (std::size_t i = 0; i < width; ++i) {
    const double q = query[i], k = key[i];
    score += options.score.pairwise == distance   ? (q - k) * (q - k)
             : options.score.pairwise == additive ? options.score.weights[i] * std::tanh(q + k)
                                                  : q * k;
  }
  score *= options.score.scale;
  const double cap = options.softcap;
  if (cap > 0.0) d *= 1.0 - std::pow(std::tanh(score / cap), 2);
  d *= options.score.scale;
  for (std::size_t i = 0; i < width; ++i) {
    const double q = query[i], k = key[i], t = std::tanh(q + k);
    if (options.score.pairwise == distance) {
      dquery[i] += 2.0 * d * (q - k);
      dkey[i] -= 2.0 * d * (q - k);
    } else if (options.score.pairwise == additive) {
      dquery[i] += d * options.score.weights[i] * (1.0 - t * t);
      dkey[i] += d * options.score.weights[i] * (1.0 - t * t);
      dweights[i] += d * t;
    } else {
      dquery[i] += d * k;
      dkey[i] += d * q;
    }
  }
}

}  // namespace

NaiveGradients naive_attention_backward(const AttentionProblem& problem, const Tensor& d_output) {
  const std::size_t heads = problem.heads(), length = problem.length(), keys = problem.key_length();
  const std::size_t groups = problem.keys.dim(2), width = problem.queries.dim(3);
  const std::size_t value_width = problem.values.dim(3);
  const NaiveAttention forward = naive_attention(problem);
  NaiveGradients found{std::vector<double>(problem.queries.elements()),
                       std::vector<double>(problem.keys.elements()),
                       std::vector<double>(problem.values.elements()),
                       std::vector<double>(forward.pattern.size()), std::vector<double>(width)};
  for (std::size_t row = 0; row < problem.batch() * heads * length; ++row) {
    const std::size_t t = row % length, h = row / length % heads, b = row / length / heads;
    const std::size_t query = (b * length + t) * heads + h, g = h / (heads / groups);
    const float* d = d_output.f32() + query * value_width;
    const double* pattern = forward.pattern.data() + row * keys;
    bool empty = true;  // its weights do not depend on the scores
    for (std::size_t s = 0; s < keys; ++s) {
      empty = empty && problem.visible && !problem.visible(b, h, t, s);
    }
    std::vector<double> of_pattern(keys);
    double shift = 0.0;
    for (std::size_t s = 0; s < keys; ++s) {
      const std::size_t key = (b * keys + s) * groups + g;
      for (std::size_t i = 0; i < value_width; ++i) {
        of_pattern[s] += double{d[i]} * problem.values.f32()[key * value_width + i];
        found.values[key * value_width + i] += pattern[s] * d[i];
      }
      shift += pattern[s] * of_pattern[s];
    }
    for (std::size_t s = 0; s < keys && !empty; ++s) {
      const std::size_t key = (b * keys + s) * groups + g;
      const double of_score = pattern[s] * (of_pattern[s] - shift);
      found.bias[row * keys + s] = of_score;
      add_pair(problem, of_score, problem.queries.f32() + query * width,
               problem.keys.f32() + key * width, found.queries.data() + query * width,
               found.keys.data() + key * width, found.weights.data());
    }
  }
  return found;
}

FoundGradients attend_backward(const AttentionProblem& problem, const Mask& mask,
                               const Tensor& d_output, bool shared_bias) {
  Arena arena;
  const Context context{arena, TraceScope()};
  const Heads queries = positions_first(problem.queries), keys = positions_first(problem.keys);
  const Heads values = positions_first(problem.values);
  Tensor output(d_output.shape());
  const std::size_t rows = problem.batch() * problem.heads() * problem.length();
  const std::size_t masked = problem.key_length() - problem.options.unmasked_keys;
  std::vector<float> softmax(2 * rows, NAN);
  attention(queries, packed_in(arena, keys, values), mask, problem.options,
            positions_first_mutable(output), context, softmax.data());
  FoundGradients found{
      Tensor(problem.queries.shape()), Tensor(problem.keys.shape()), Tensor(problem.values.shape()),
      Tensor::zeros({shared_bias ? 1 : problem.batch(), problem.heads(), problem.length(), masked}),
      std::vector<float>(problem.queries.dim(3))};
  attention_backward({queries, keys, values, positions_first(output), softmax.data()}, mask,
                     problem.options, positions_first(d_output),
                     {positions_first_mutable(found.queries), positions_first_mutable(found.keys),
                      positions_first_mutable(found.values), found.bias, found.weights.data()},
                     arena);
  return found;
}

}  // namespace clearformer::test
