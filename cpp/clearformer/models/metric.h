// The metric of a differentiated pass, of which gradient.h holds the terms: its value and its gradient with respect to
// the model's outputs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "clearformer/layers/gradient.h"
#include "clearformer/layers/loss.h"
#include "clearformer/layers/output_layer.h"
#include "clearformer/models/model.h"

namespace clearformer {

/// The gradient of a pass; throws invalid_argument without one, before the pass is complete, and for a term of the metric
/// whose output it does not have, unsupported for labels of a model without a loss of them.
Gradient& expect_metric(const ModelConfig& config, Gradient* gradient, ModelOutputs& outputs);

/// An output of a model.
struct OutputValue {
  std::string_view name;
  TensorView value;                              // without data where it is only known in parts
  std::span<const std::int64_t> positions = {};  // of logits_to_keep, of `length`; empty: all
  std::size_t length = 0;
};

/// Adds the value of the metric's terms that concern the output, and returns their gradient with respect to it, of its
/// shape; empty if there are none. Throws invalid_argument or shape_mismatch for terms that do not fit it.
Tensor metric_back(const ModelConfig& config, const OutputValue& output, Gradient& gradient);

/// The terms of a metric that concern logits (…, V), of which some rows are given at a time.
class LogitsMetric {
 public:
  /// Throws as metric_back().
  LogitsMetric(const ModelConfig& config, const OutputValue& logits, Gradient& gradient);

  /// The rows that any term concerns, in order.
  std::vector<std::size_t> rows() const;
  /// Adds the value of these rows' terms, from their logits (N, V), and its gradient to d (N, V); the
  /// arena is workspace.
  void back(std::span<const std::size_t> rows, const TensorView& logits, const MutableTensorView& d,
            Gradient& gradient, Arena& arena) const;

 private:
  struct Loss {
    std::vector<std::int32_t> labels;  // of all rows
    CrossEntropy options;
  };
  struct Logit {
    std::size_t row, token;
    float weight;
  };
  std::size_t rows_, classes_;
  std::vector<Loss> losses_;
  std::vector<Logit> logits_;
  std::vector<Tensor> read_outs_;  // broadcast to all logits
};

/// The backward pass of an output layer and of the metric on top of it, in blocks of the rows that the metric concerns:
/// dx (B, T, D) from the layer's input x. Neither the logits' gradient nor, if `logits` has no data, the logits
/// themselves are whole in memory at any time. Without a place that is sought only the metric's value is computed.
void predictions_back(const ModelConfig& config, const OutputLayer& layer,
                      const OutputValue& logits, const TensorView& x, const MutableTensorView& dx,
                      const Context& context);

}  // namespace clearformer
