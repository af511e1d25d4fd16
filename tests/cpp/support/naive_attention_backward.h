// The backward pass of attention in double, with full matrices and from the formulas; and attention() with what that pass
// needs.
#pragma once

#include "clearformer/layers/attention_backward.h"
#include "support/naive_attention.h"

namespace clearformer::test {

/// Gradients of Σ weights ⊙ output, each (B, …) as its operand.
struct NaiveGradients {
  std::vector<double> queries, keys, values;
  std::vector<double> bias;     // (B, H, T, S)
  std::vector<double> weights;  // (d)
};
NaiveGradients naive_attention_backward(const AttentionProblem& problem, const Tensor& d_output);

/// The layer's gradients by attention() and attention_backward(); the bias's summed over the batch if `shared_bias`.
struct FoundGradients {
  Tensor queries, keys, values, bias;
  std::vector<float> weights;
};
FoundGradients attend_backward(const AttentionProblem& problem, const Mask& mask,
                               const Tensor& d_output, bool shared_bias = false);

}  // namespace clearformer::test
