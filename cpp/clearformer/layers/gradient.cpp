#include "clearformer/layers/gradient.h"

#include <algorithm>

#include "clearformer/kernels/elementwise.h"

namespace clearformer {

namespace {

constexpr ErrorCode kRefused = ErrorCode::invalid_argument;

bool any_matches(const std::vector<std::string>& patterns, std::string_view hook) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return selects(pattern, hook); });
}

// The weights broadcast to a hook point's value.
Tensor weights_for(const ReadOut& term, const Shape& shape) {
  try {
    return broadcast_to(term.weights, shape);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::out_of_memory) throw;
    fail(ErrorCode::shape_mismatch, "gradient: weights of shape ", term.weights.shape().text(),
         " do not fit ", term.name, " of shape ", shape.text());
  }
}

}  // namespace

void Gradient::want_edit(std::size_t index) { edits_.push_back(index); }

void Gradient::edit(std::string pattern, Function function) {
  running_.refuse_edit(pattern);
  if (!function) fail(kRefused, "edit: ", pattern, " has no function");
  changes_.push_back({std::move(pattern), std::move(function)});
}

const Tensor& Gradient::at(std::string_view name) const {
  for (const Trace::Captured& entry : found_) {
    if (entry.name == name) return entry.value;
  }
  fail(kRefused, "gradient: none of \"", name, "\" was computed");
}

const Tensor& Gradient::edit_value(std::size_t index) const {
  const std::string number = concat(index);
  for (const auto& [edit, sum] : edit_sums_) {
    if (edit == number) return sum;
  }
  fail(kRefused, "gradient: none of the value of edit ", index, " was computed");
}

void Gradient::begin(std::vector<std::string> places) {
  if (losses_.empty() && logits_.empty() && outputs_.empty() && hooks_.empty()) {
    fail(kRefused, "gradient: there is no metric: no loss, logits, outputs or hook points");
  }
  begin_layers();
  places_ = std::move(places);
  keeping_ = Keeping::nothing;
}

void Gradient::begin_layers() {
  places_.clear();
  keeping_ = Keeping::values;
  value_ = 0.0;
  found_.clear();
  kept_.clear();
  weights_.begin_pass();
  edit_sums_.clear();
  met_.clear();
  for (Change& change : changes_) change.met = false;
}

bool Gradient::calls_at(std::string_view name) const {
  return std::any_of(changes_.begin(), changes_.end(),
                     [&](const Change& change) { return selects(change.pattern, name); });
}

bool Gradient::seeks(std::string_view name) const {
  return any_matches(wanted_, name) || calls_at(name);
}

bool Gradient::changes(std::string_view name) const {
  return calls_at(name) || std::any_of(hooks_.begin(), hooks_.end(),
                                       [&](const ReadOut& hook) { return hook.name == name; });
}

bool Gradient::concerns(std::string_view name) const { return seeks(name) || changes(name); }

bool Gradient::wants_edit(std::size_t index) const {
  return std::find(edits_.begin(), edits_.end(), index) != edits_.end();
}

void Gradient::check_all_met() const {
  const auto expect = [](bool met, const std::string& pattern) {
    if (!met) fail(kRefused, "gradient: this pass has no hook point \"", pattern, "\"");
  };
  for (const ReadOut& hook : hooks_) {
    expect(std::find(met_.begin(), met_.end(), hook.name) != met_.end(), hook.name);
  }
  for (const Change& change : changes_) expect(change.met, change.pattern);
  for (const std::string& pattern : wanted_) {
    const bool found = std::any_of(found_.begin(), found_.end(), [&](const Trace::Captured& entry) {
      return selects(pattern, entry.name);
    });
    expect(found, pattern);
  }
}

void Gradient::keep(std::string name, const TensorView& value) {
  kept_.emplace_back(std::move(name), Tensor::copy_of(value));
}

const Tensor* Gradient::kept(std::string_view name) const {
  for (std::size_t i = kept_.size(); i-- > 0;) {
    if (kept_[i].first == name) return &kept_[i].second;
  }
  return nullptr;
}

void Gradient::release(std::size_t first) {
  if (first < kept_.size()) kept_.resize(first);
}

void Gradient::read(const Offered& offered) {
  for (const ReadOut& hook : hooks_) {
    if (hook.name != offered.name) continue;
    const Tensor weights = weights_for(hook, offered.value.shape());
    for (std::size_t i = 0; i < weights.elements(); ++i) {
      // Scores that a mask hides are -inf: without a weight they do not belong to the metric.
      const double weight = weights.f32()[i];
      if (weight != 0.0) value_ += weight * offered.value.f32()[i];
    }
    met_.push_back(hook.name);
  }
}

void Gradient::back(const Trace& trace, const Offered& gradient) {
  for (const ReadOut& hook : hooks_) {
    if (hook.name != gradient.name) continue;
    const Tensor weights = weights_for(hook, gradient.value.shape());
    float* const d = gradient.value.f32();
    kernels::add(d, weights.f32(), d, weights.elements());
  }
  for (Change& change : changes_) {
    if (!selects(change.pattern, gradient.name)) continue;
    change.met = true;
    const Running::Scope scope(running_), of_trace(trace.running());
    change.function(gradient.name, gradient.value);
  }
  if (any_matches(wanted_, gradient.name)) {
    found_.push_back({std::string(gradient.name), std::string(gradient.legend),
                      Tensor::copy_of(gradient.value)});
  }
  trace.visit_back(gradient);
}

void Gradient::add_to_edit(std::size_t index, const Tensor& gradient) {
  std::string number = concat(index);
  for (auto& [edit, sum] : edit_sums_) {
    if (edit == number) return kernels::add(sum.f32(), gradient.f32(), sum.f32(), sum.elements());
  }
  edit_sums_.emplace_back(std::move(number), gradient.clone());
}

bool TraceScope::returns_logits() const {
  return gradient() == nullptr || gradient()->returns_logits();
}

bool TraceScope::keeping() const { return trace_->gradient()->keeping(); }

void TraceScope::keep_copy(std::string_view leaf, const TensorView& value) const {
  trace_->gradient()->keep(name(leaf), value);
}

bool TraceScope::has_kept(std::string_view leaf) const {
  return trace_->gradient()->kept(name(leaf)) != nullptr;
}

TensorView TraceScope::kept(std::string_view leaf) const {
  const Tensor* value = trace_->gradient()->kept(name(leaf));
  if (value != nullptr) return *value;
  fail(kRefused, "gradient: the forward pass did not keep ", name(leaf));
}

bool TraceScope::changes_back(std::string_view leaf) const {
  const std::string full = name(leaf);
  return trace_->edits(full) || trace_->gradient()->changes(full);
}

bool TraceScope::concerns_back(std::string_view leaf) const {
  const std::string full = name(leaf);
  return trace_->edits(full) || trace_->gradient()->concerns(full);
}

void TraceScope::back(std::string_view leaf, const MutableTensorView& gradient,
                      std::string_view legend) const {
  trace_->gradient()->back(*trace_, {name(leaf), legend, gradient, past_});
}

void TraceScope::input_back(std::string_view input, const MutableTensorView& gradient,
                            std::string_view legend) const {
  trace_->gradient()->back(*trace_, {input, legend, gradient, 0});
}

WeightGradients* TraceScope::weights() const {
  WeightGradients& weights = trace_->gradient()->weights();
  return weights.any() ? &weights : nullptr;
}

TensorView expect_gradient(const TensorView& gradient, const Shape& shape) {
  const bool fits = gradient.elements() == shape.elements() && gradient.shape().rank() != 0 &&
                    gradient.shape().back(0) == shape.back(0);
  if (fits) return gradient.reshaped(shape);
  fail(ErrorCode::shape_mismatch, "backward: a gradient of shape ", gradient.shape().text(),
       " of an output of shape ", shape.text());
}

}  // namespace clearformer
