#include "clearformer/models/metric.h"

#include <algorithm>
#include <vector>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/loss.h"

namespace clearformer {

namespace {

constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;
constexpr std::int32_t kUncounted = -100;

// d, created as zeros when the first term concerns the output.
float* gradient_of(Tensor& d, const TensorView& output) {
  if (d.empty()) d = Tensor::zeros(output.shape());
  return d.f32();
}

// The index of a position among those of the logits.
std::size_t index_of(const LogitTerm& term, const OutputValue& output) {
  const Shape& shape = output.value.shape();
  const bool placed = shape.rank() == 3;  // else one row of logits for each sequence
  const std::size_t all = !placed ? 1 : output.positions.empty() ? shape[1] : output.length;
  const auto length = static_cast<std::int64_t>(all);
  const auto counted = [&](std::int64_t given) { return given < 0 ? given + length : given; };
  const std::int64_t position = counted(term.position);
  bool known =
      term.row < shape[0] && position >= 0 && position < length && term.token < shape.back(0);
  std::size_t index = known ? static_cast<std::size_t>(position) : 0;
  if (known && !output.positions.empty()) {
    const auto found = std::find_if(output.positions.begin(), output.positions.end(),
                                    [&](std::int64_t kept) { return counted(kept) == position; });
    known = found != output.positions.end();
    index = static_cast<std::size_t>(found - output.positions.begin());
  }
  if (!known) {
    fail(kInvalid, "gradient: there is no logit of row ", term.row, ", position ", term.position,
         ", token ", term.token, " among those of shape ", shape.text());
  }
  return (term.row * (placed ? shape[1] : 1) + index) * shape.back(0) + term.token;
}

void add_logit(const LogitTerm& term, const OutputValue& output, Tensor& d, Gradient& gradient) {
  const std::size_t at = index_of(term, output);
  gradient_of(d, output.value)[at] += term.weight;
  gradient.add_to_value(static_cast<double>(term.weight) * output.value.f32()[at]);
}

void add_read_out(const ReadOut& term, const TensorView& output, Tensor& d, Gradient& gradient) {
  const Tensor weights = broadcast_to(term.weights, output.shape());
  float* const to = gradient_of(d, output);
  kernels::add(to, weights.f32(), to, weights.elements());
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.elements(); ++i) {
    sum += static_cast<double>(weights.f32()[i]) * output.f32()[i];
  }
  gradient.add_to_value(sum);
}

// The labels of an output's rows, as cross_entropy() takes them: for causal language models those of the next position.
std::vector<std::int32_t> labels_of(const ModelConfig& config, std::string_view name,
                                    const TensorView& labels, const Shape& logits) {
  const std::int32_t* const given = labels.as<std::int32_t>();
  std::vector<std::int32_t> rows(given, given + labels.elements());
  const bool answers = config.task == Task::question_answering;
  const Shape expected = answers              ? Shape{logits[0], 2}
                         : logits.rank() == 3 ? Shape{logits[0], logits[1]}
                                              : Shape{logits[0]};
  if (!(labels.shape() == expected)) {
    fail(ErrorCode::shape_mismatch, "loss: labels of shape ", labels.shape().text(), ", expected ",
         expected.text());
  }
  if (answers) {  // first and last position of each sequence's answer; one outside of it is not counted
    rows.resize(logits[0]);
    for (std::size_t row = 0; row < logits[0]; ++row) {
      const std::int32_t position = given[2 * row + (name == "start_logits" ? 0 : 1)];
      const bool inside = position < static_cast<std::int64_t>(logits[1]);
      rows[row] = inside ? std::max(position, 0) : kUncounted;
    }
  } else if (config.task == Task::causal_lm) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = (i + 1) % logits[1] == 0 ? kUncounted : given[i + 1];
    }
  }
  return rows;
}

// Numbers as labels: of one output its values (regression), else 0 to 1 for each of several labels.
void add_numbers_loss(const LabelLoss& loss, const TensorView& output, Tensor& d,
                      Gradient& gradient) {
  const bool one = output.shape().back(0) == 1;
  const Tensor& labels = loss.labels;
  const bool fits = one ? labels.elements() == output.elements() : labels.shape() == output.shape();
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "loss: labels of shape ", labels.shape().text(), ", expected ",
         (one ? Shape{output.dim(0)} : output.shape()).text());
  }
  std::vector<float> numbers(labels.elements());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = labels.dtype() == DType::f32
                     ? labels.f32()[i]
                     : static_cast<float>(labels.view().as<std::int32_t>()[i]);
  }
  gradient_of(d, output);
  const auto function = one ? squared_error : binary_cross_entropy;
  gradient.add_to_value(function(output, numbers.data(), d, loss.weight));
}

void add_loss(const ModelConfig& config, std::string_view name, const LabelLoss& loss,
              const TensorView& output, Tensor& d, Gradient& gradient) {
  const bool answers = config.task == Task::question_answering;
  if (config.task == Task::base || config.task == Task::replaced_token_detection ||
      config.second_head) {
    fail(ErrorCode::unsupported, "loss: ", config.model_type, " for the task ",
         to_string(config.task), " has none of labels; give the gradient of its outputs");
  }
  if (config.task == Task::sequence_classification &&
      (loss.labels.dtype() == DType::f32 || output.shape().back(0) == 1)) {
    return add_numbers_loss(loss, output, d, gradient);
  }
  const auto labels = labels_of(config, name, loss.labels, output.shape());
  gradient_of(d, output);
  gradient.add_to_value(cross_entropy(
      output, labels.data(), d,
      {kUncounted, loss.label_smoothing, answers ? 0.5f * loss.weight : loss.weight}));
}

}  // namespace

void expect_metric(const Gradient& gradient, ModelOutputs& outputs) {
  for (const ReadOut& term : gradient.outputs()) outputs.at(term.name);
  const bool predicts = outputs.find("logits") != nullptr;
  if (!gradient.logits().empty() && !predicts) outputs.at("logits");
  if (gradient.losses().empty() || predicts || outputs.find("start_logits") != nullptr) return;
  fail(kInvalid, "loss: this pass has no logits; stop_at_layer ends a pass before them");
}

Tensor metric_back(const ModelConfig& config, const OutputValue& output, Gradient& gradient) {
  const std::string_view name = output.name;
  Tensor d;
  if (name == "logits" || name == "start_logits" || name == "end_logits") {
    for (const LabelLoss& loss : gradient.losses()) {
      add_loss(config, name, loss, output.value, d, gradient);
    }
  }
  if (name == "logits") {
    for (const LogitTerm& term : gradient.logits()) add_logit(term, output, d, gradient);
  }
  for (const ReadOut& term : gradient.outputs()) {
    if (term.name == name) add_read_out(term, output.value, d, gradient);
  }
  return d;
}

}  // namespace clearformer
