// The metric of a differentiated pass, of which gradient.h holds the terms: its value and its gradient with respect to
// the model's outputs.
#pragma once

#include <span>
#include <string_view>

#include "clearformer/layers/gradient.h"
#include "clearformer/models/model.h"

namespace clearformer {

/// Throws invalid_argument for a term of the metric whose output the pass does not have.
void expect_metric(const Gradient& gradient, ModelOutputs& outputs);

/// An output of a model.
struct OutputValue {
  std::string_view name;
  const TensorView& value;
  std::span<const std::int64_t> positions = {};  // of logits_to_keep, of `length`; empty: all
  std::size_t length = 0;
};

/// Adds the value of the metric's terms that concern the output, and returns their gradient with respect to it, of its
/// shape; empty if there are none. Throws invalid_argument or shape_mismatch for terms that do not fit it.
Tensor metric_back(const ModelConfig& config, const OutputValue& output, Gradient& gradient);

}  // namespace clearformer
