#include "clearformer/layers/optimizer.h"

#include <algorithm>
#include <cmath>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/optimizer_steps.h"
#include "clearformer/kernels/softmax_backward.h"
#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

constexpr std::size_t kRunOfStep = 64;  // ranges are whole registers

float* floats_at(const WeightRows& rows) {
  const WeightPlace place = rows.place();
  return static_cast<float*>(const_cast<void*>(place.numbers)) + place.first;
}

// Numbers in memory, of panels with their padding, which is zero and stays so.
std::size_t numbers_of(const WeightRows& rows) {
  if (!rows.place().panels) return rows.outputs() * rows.inputs();
  return kernels::PanelGradient::padded(rows.outputs()) * rows.inputs();
}

void expect(bool right, const char* what, double value) {
  if (!right) fail(ErrorCode::invalid_argument, "optimiser: ", what, " is ", value);
}

void expect_rate(double rate) {
  expect(rate >= 0.0 && std::isfinite(rate), "the learning rate", rate);
}

}  // namespace

Optimizer::Optimizer(const std::vector<Parameter>& parameters, double rate, std::size_t states)
    : learning_rate(rate) {
  expect_rate(rate);
  for (const Parameter& parameter : parameters) {
    const WeightPlace place = parameter.rows->place();
    const bool tied = std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
      const WeightPlace other = item.parameter.rows->place();
      return other.numbers == place.numbers && other.first == place.first;
    });
    if (tied) continue;
    if (parameter.rows->format() != MatrixFormat::f32) {
      fail(ErrorCode::unsupported, "optimiser: \"", parameter.stored.name, "\" is in ",
           to_string(parameter.rows->format()), "; load the model with dtype 'fp32'");
    }
    State state;
    const Shape shape{numbers_of(*parameter.rows)};
    if (states > 0) state.first = Tensor::zeros(shape);
    if (states > 1) state.second = Tensor::zeros(shape);
    items_.push_back({parameter, std::move(state)});
  }
}

void Optimizer::step(const WeightGradients& gradients) {
  expect_rate(learning_rate);
  // All memory is allocated before the first weight changes.
  std::vector<std::shared_ptr<WeightRows>> sums;
  std::size_t longest = 0;
  for (const Item& item : items_) {
    sums.push_back(gradients.rows(item.parameter));
    longest = std::max(longest, item.parameter.rows->inputs());
  }
  std::vector<float> memory(2 * longest);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (gradients.reached(items_[i].parameter)) step(items_[i], *sums[i], memory.data());
  }
}

// Panels are changed in place; other weights row by row, since some are stored beside what their layer computes with.
void Optimizer::step(Item& item, const WeightRows& gradient, float* memory) const {
  State& state = item.state;
  ++state.steps;
  begin(state);
  WeightRows& rows = *item.parameter.rows;
  const auto at = [](Tensor& tensor, std::size_t first) {
    return tensor.empty() ? nullptr : tensor.f32() + first;
  };
  if (rows.place().panels) {
    float* const weight = floats_at(rows);
    const float* const sums = floats_at(gradient);
    constexpr std::size_t kWork = 8;
    return parallel_ranges(numbers_of(rows), kWork, kRunOfStep,
                           [&](std::size_t first, std::size_t end) {
                             update(state, {weight + first, sums + first, at(state.first, first),
                                            at(state.second, first), end - first});
                           });
  }
  const std::size_t inputs = rows.inputs();
  float *const weight = memory, *const sums = memory + inputs;
  for (std::size_t output = 0; output < rows.outputs(); ++output) {
    rows.copy_row(output, weight);
    gradient.copy_row(output, sums);
    update(state, {weight, sums, at(state.first, output * inputs),
                   at(state.second, output * inputs), inputs});
    rows.set_row(output, weight);
  }
}

std::size_t Optimizer::bytes() const {
  std::size_t bytes = 0;
  for (const Item& item : items_) {
    for (const Tensor* part : {&item.state.first, &item.state.second}) {
      if (!part->empty()) bytes += part->view().bytes();
    }
  }
  return bytes;
}

AdamW::AdamW(const std::vector<Parameter>& parameters, const AdamWOptions& options)
    : Optimizer(parameters, options.learning_rate, 2), options_(options) {
  expect(options.beta1 >= 0.0 && options.beta1 < 1.0, "beta1", options.beta1);
  expect(options.beta2 >= 0.0 && options.beta2 < 1.0, "beta2", options.beta2);
  expect(options.eps >= 0.0, "eps", options.eps);
  expect(options.weight_decay >= 0.0, "the weight decay", options.weight_decay);
}

void AdamW::begin(State& state) const {
  state.power1 *= options_.beta1;
  state.power2 *= options_.beta2;
}

void AdamW::update(const State& state, const Run& run) const {
  const auto rounded = [](double value) { return static_cast<float>(value); };
  kernels::adamw_step({run.weight, run.gradient, run.first, run.second, run.count,
                       rounded(1.0 - learning_rate * options_.weight_decay),
                       rounded(1.0 - options_.beta1), rounded(options_.beta2),
                       rounded(1.0 - options_.beta2), rounded(learning_rate / (1.0 - state.power1)),
                       rounded(std::sqrt(1.0 - state.power2)), rounded(options_.eps)});
}

Sgd::Sgd(const std::vector<Parameter>& parameters, const SgdOptions& options)
    : Optimizer(parameters, options.learning_rate, options.momentum == 0.0 ? 0 : 1),
      options_(options) {
  expect(options.momentum >= 0.0, "the momentum", options.momentum);
  expect(options.weight_decay >= 0.0, "the weight decay", options.weight_decay);
  if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0)) {
    fail(ErrorCode::invalid_argument,
         "optimiser: nesterov needs a momentum above 0 and no dampening");
  }
}

void Sgd::update(const State& state, const Run& run) const {
  const double share = state.steps == 1 ? 1.0 : 1.0 - options_.dampening;
  kernels::sgd_step({run.weight, run.gradient, run.first, run.count,
                     static_cast<float>(learning_rate), static_cast<float>(options_.weight_decay),
                     static_cast<float>(options_.momentum), static_cast<float>(share),
                     options_.nesterov});
}

double Optimizer::clip_grad_norm(const WeightGradients& gradients, double max_norm) const {
  expect(max_norm >= 0.0, "max_norm", max_norm);
  std::vector<std::shared_ptr<WeightRows>> sums;
  for (const Item& item : items_) {
    if (auto rows = gradients.rows(item.parameter)) sums.push_back(std::move(rows));
  }
  std::vector<double> each(sums.size());
  parallel_for(sums.size(), [&](std::size_t i) {
    const float* const numbers = floats_at(*sums[i]);
    each[i] = kernels::dot_of(numbers, numbers, numbers_of(*sums[i]));
  });
  double squares = 0.0;
  for (const double sum : each) squares += sum;
  const double norm = std::sqrt(squares), factor = max_norm / (norm + 1e-6);
  if (factor >= 1.0) return norm;
  for (const auto& rows : sums) {
    kernels::scale(floats_at(*rows), static_cast<float>(factor), numbers_of(*rows));
  }
  return norm;
}

double Schedule::factor(std::size_t step) const {
  constexpr double kPi = 3.14159265358979323846;
  const auto part = [](std::size_t of, std::size_t all) {
    return static_cast<double>(of) / static_cast<double>(std::max<std::size_t>(1, all));
  };
  if (step < warmup_steps) return part(step, warmup_steps);
  if (kind == Kind::constant) return 1.0;
  const std::size_t rest = steps > warmup_steps ? steps - warmup_steps : 0;
  if (kind == Kind::linear) return step < steps ? part(steps - step, rest) : 0.0;
  const double share = part(step - warmup_steps, rest);
  return std::max(0.0, 0.5 * (1.0 + portable_sine_cosine(kPi * share).cosine));
}

}  // namespace clearformer
