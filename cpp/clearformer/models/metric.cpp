#include "clearformer/models/metric.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/panel_gradient.h"

namespace clearformer {

namespace {

constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;
constexpr std::int32_t kUncounted = -100;

// d, created as zeros when the first term concerns the output.
float* gradient_of(Tensor& d, const TensorView& output) {
  if (d.empty()) d = Tensor::zeros(output.shape());
  return d.f32();
}

// The row of a term's position among those of the logits.
std::size_t row_of(const LogitTerm& term, const OutputValue& output) {
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
  return term.row * (placed ? shape[1] : 1) + index;
}

// Adds Σ weights ⊙ value, and its gradient to d.
void add_weights(const TensorView& weights, const TensorView& value, float* d, Gradient& gradient) {
  kernels::add(d, weights.f32(), d, weights.elements());
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.elements(); ++i) {
    sum += static_cast<double>(weights.f32()[i]) * value.f32()[i];
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

// What labels of whole sequences or images are, as transformers decides it.
ModelConfig::Problem problem_of(const ModelConfig& config, const LabelLoss& loss,
                                const Shape& output) {
  using Problem = ModelConfig::Problem;
  const bool whole =
      config.task == Task::sequence_classification || config.task == Task::image_classification;
  if (!whole) return Problem::single_label;
  if (config.problem != Problem::implied) return config.problem;
  if (output.back(0) == 1) return Problem::regression;
  if (loss.labels.dtype() != DType::f32) return Problem::single_label;
  return config.soft_labels ? Problem::soft_label : Problem::multi_label;
}

// Numbers as labels: the outputs' values (regression), 0 to 1 for each of several labels, or a share of each class.
void add_numbers_loss(ModelConfig::Problem problem, const LabelLoss& loss, const TensorView& output,
                      Tensor& d, Gradient& gradient) {
  using Problem = ModelConfig::Problem;
  const bool one = problem == Problem::regression && output.shape().back(0) == 1;
  const Tensor& labels = loss.labels;
  const bool fits = one ? labels.elements() == output.elements() : labels.shape() == output.shape();
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "loss: labels of shape ", labels.shape().text(), ", expected ",
         (one ? Shape{output.dim(0)} : output.shape()).text());
  }
  if (loss.label_smoothing != 0.0f) {
    fail(kInvalid, "loss: label_smoothing is ", loss.label_smoothing,
         ", of labels that are no classes");
  }
  std::vector<float> numbers(labels.elements());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = labels.dtype() == DType::f32
                     ? labels.f32()[i]
                     : static_cast<float>(labels.view().as<std::int32_t>()[i]);
  }
  gradient_of(d, output);
  const float* const y = numbers.data();
  // Calls, not pointers to functions, which would keep them in the WebAssembly's first file.
  gradient.add_to_value(problem == Problem::regression ? squared_error(output, y, d, loss.weight)
                        : problem == Problem::soft_label
                            ? soft_cross_entropy(output, y, d, loss.weight)
                            : binary_cross_entropy(output, y, d, loss.weight));
}

void expect_labels(const ModelConfig& config) {
  if (config.task != Task::base && config.task != Task::ctc &&
      config.task != Task::replaced_token_detection && !config.second_head) {
    return;
  }
  fail(ErrorCode::unsupported, "loss: ", config.model_type, " for the task ",
       to_string(config.task), " has none of labels; give the gradient of its outputs");
}

bool has_numbers(const ModelConfig& config, const LabelLoss& loss, const Shape& output) {
  const bool numbers = problem_of(config, loss, output) != ModelConfig::Problem::single_label;
  if (!numbers && loss.labels.dtype() != DType::i32) {
    fail(ErrorCode::dtype_mismatch, "loss: labels of the task ", to_string(config.task),
         " are classes or tokens, got ", to_string(loss.labels.dtype()));
  }
  return numbers;
}

bool is_logits(std::string_view name) {
  return name == "logits" || name == "start_logits" || name == "end_logits";
}

// Rows of x (…, n), copied unless they follow each other.
TensorView rows_of(const TensorView& x, std::span<const std::size_t> rows, Arena& arena) {
  const std::size_t width = x.shape().back(0), count = rows.size();
  if (rows.back() - rows.front() + 1 == count) {
    return {x.f32() + rows.front() * width, DType::f32, {count, width}};
  }
  const MutableTensorView copy = arena.take({count, width});
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(x.f32() + rows[i] * width, width, copy.f32() + i * width);
  }
  return copy;
}

}  // namespace

Gradient& expect_metric(const ModelConfig& config, Gradient* gradient, ModelOutputs& outputs) {
  if (gradient == nullptr || outputs.tensors.empty()) {
    fail(kInvalid, "gradient: this pass is not differentiated, or not complete");
  }
  for (const ReadOut& term : gradient->outputs()) outputs.at(term.name);
  const bool predicts = outputs.find("logits") != nullptr;
  if (!gradient->logits().empty() && !predicts) outputs.at("logits");
  if (gradient->losses().empty() || predicts || outputs.find("start_logits") != nullptr) {
    return *gradient;
  }
  expect_labels(config);
  fail(kInvalid, "loss: this pass has no logits; stop_at_layer ends a pass before them");
}

LogitsMetric::LogitsMetric(const ModelConfig& config, const OutputValue& logits, Gradient& gradient)
    : rows_(logits.value.shape().outer(1)), classes_(logits.value.shape().back(0)) {
  const Shape& shape = logits.value.shape();
  for (const LabelLoss& loss : gradient.losses()) {
    expect_labels(config);
    if (has_numbers(config, loss, shape)) continue;
    Loss own{labels_of(config, logits.name, loss.labels, shape),
             {kUncounted, loss.label_smoothing}};
    const bool answers = config.task == Task::question_answering;
    own.options.weight = answers ? 0.5f * loss.weight : loss.weight;
    own.options.of = counted_rows(own.labels, own.options);
    if (own.options.of == 0) gradient.add_to_value(std::numeric_limits<double>::quiet_NaN());
    losses_.push_back(std::move(own));
  }
  if (logits.name == "logits") {
    for (const LogitTerm& term : gradient.logits()) {
      logits_.push_back({row_of(term, logits), term.token, term.weight});
    }
  }
  for (const ReadOut& term : gradient.outputs()) {
    if (term.name == logits.name) read_outs_.push_back(broadcast_to(term.weights, shape));
  }
}

std::vector<std::size_t> LogitsMetric::rows() const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < rows_; ++row) {
    const bool labelled = std::any_of(losses_.begin(), losses_.end(), [&](const Loss& loss) {
      return loss.labels[row] != kUncounted;
    });
    const bool placed = std::any_of(logits_.begin(), logits_.end(),
                                    [&](const Logit& logit) { return logit.row == row; });
    if (labelled || placed || !read_outs_.empty()) rows.push_back(row);
  }
  return rows;
}

void LogitsMetric::back(std::span<const std::size_t> rows, const TensorView& logits,
                        const MutableTensorView& d, Gradient& gradient, Arena& arena) const {
  std::vector<std::int32_t> labels(rows.size());
  for (const Loss& loss : losses_) {
    if (loss.options.of == 0) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) labels[i] = loss.labels[rows[i]];
    gradient.add_to_value(cross_entropy(logits, labels, d, loss.options));
  }
  for (const Logit& logit : logits_) {
    const auto found = std::lower_bound(rows.begin(), rows.end(), logit.row);
    if (found == rows.end() || *found != logit.row) continue;
    const auto at = static_cast<std::size_t>(found - rows.begin()) * classes_ + logit.token;
    d.f32()[at] += logit.weight;
    gradient.add_to_value(static_cast<double>(logit.weight) * logits.f32()[at]);
  }
  for (const Tensor& all : read_outs_) {
    const Arena::Frame frame(arena);
    add_weights(rows_of(all, rows, arena), logits, d.f32(), gradient);
  }
}

Tensor metric_back(const ModelConfig& config, const OutputValue& output, Gradient& gradient) {
  Tensor d;
  if (!is_logits(output.name)) {
    for (const ReadOut& term : gradient.outputs()) {
      if (term.name != output.name) continue;
      add_weights(broadcast_to(term.weights, output.value.shape()), output.value,
                  gradient_of(d, output.value), gradient);
    }
    return d;
  }
  const LogitsMetric metric(config, output, gradient);
  for (const LabelLoss& loss : gradient.losses()) {
    if (has_numbers(config, loss, output.value.shape())) {
      add_numbers_loss(problem_of(config, loss, output.value.shape()), loss, output.value, d,
                       gradient);
    }
  }
  const std::vector<std::size_t> rows = metric.rows();
  if (rows.empty()) return d;
  gradient_of(d, output.value);
  std::vector<std::size_t> all(output.value.shape().outer(1));
  std::iota(all.begin(), all.end(), std::size_t{0});
  Arena arena;
  metric.back(all, output.value, d, gradient, arena);
  return d;
}

void predictions_back(const ModelConfig& config, const OutputLayer& layer,
                      const OutputValue& logits, const TensorView& x, const MutableTensorView& dx,
                      const Context& context) {
  constexpr std::size_t kFloats = std::size_t{16} << 20;  // of a block's logits
  constexpr std::size_t kLeast = 16, kMost = kernels::PanelGradient::kRows;
  Gradient& gradient = *context.trace.gradient();
  const LogitsMetric metric(config, logits, gradient);
  const std::vector<std::size_t> rows = metric.rows();
  std::memset(dx.data(), 0, dx.bytes());
  if (rows.empty()) return;
  const std::size_t classes = logits.value.shape().back(0), width = x.shape().back(0);
  // Blocks of the same size: each needs all of the weights once.
  const std::size_t limit = std::clamp(kFloats / std::max<std::size_t>(classes, 1), kLeast, kMost);
  const std::size_t blocks = (rows.size() + limit - 1) / limit;
  const std::size_t most = (rows.size() + blocks - 1) / blocks;
  for (std::size_t first = 0; first < rows.size(); first += most) {
    const std::size_t count = std::min(most, rows.size() - first);
    const std::span<const std::size_t> block(rows.data() + first, count);
    const Arena::Frame frame(context.arena);
    const TensorView in = rows_of(x, block, context.arena);
    TensorView values;
    if (logits.value.data() == nullptr) {
      const MutableTensorView own = context.arena.take({count, classes});
      layer.forward(in, own);
      values = own;
    } else {
      values = rows_of(logits.value, block, context.arena);
    }
    const MutableTensorView d = context.arena.take({count, classes});
    std::memset(d.data(), 0, d.bytes());
    metric.back(block, values, d, gradient, context.arena);
    if (gradient.places().empty()) continue;
    const MutableTensorView d_in = context.arena.take({count, width});
    layer.backward(in, values, d, d_in, context.trace.weights(), context.arena);
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(d_in.f32() + i * width, width, dx.f32() + block[i] * width);
    }
  }
}

}  // namespace clearformer
