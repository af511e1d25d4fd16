#include "clearformer/layers/trace.h"

#include <algorithm>
#include <cstring>

#include "clearformer/layers/capture.h"
#include "clearformer/layers/edit.h"
#include "clearformer/layers/gradient.h"

namespace clearformer {

bool is_on_request(std::string_view name) {
  for (const std::string_view leaf : {"hook_result", "hook_q_input", "hook_k_input", "hook_v_input",
                                      "hook_mlp_in", "inputs_embeds", "residual"}) {
    if (name.ends_with(leaf)) return true;
  }
  return false;
}

bool selects(std::string_view pattern, std::string_view name) {
  if (!matches_pattern(name, pattern)) return false;
  return !is_on_request(name) ||
         !matches_pattern(concat(name.substr(0, name.rfind('.') + 1), "hook_"), pattern);
}

void Running::refuse_edit(std::string_view pattern) const {
  if (!running_) return;
  fail(ErrorCode::invalid_argument, "edit: ", pattern, " is added while a function runs");
}

void Trace::add(Change change) {
  running_.refuse_edit(change.pattern);
  changes_.push_back(std::move(change));
}

void Trace::edit(std::string pattern, Function function, Function backward) {
  if (!function) fail(ErrorCode::invalid_argument, "edit: ", pattern, " has no function");
  add({std::move(pattern), nullptr, std::move(function), std::move(backward)});
}

void Trace::edit(Edit edit) {
  check(edit);
  std::string pattern = edit.hook;
  add({std::move(pattern), std::make_shared<Edit>(std::move(edit)), {}, {}});
}

const Edit& Trace::edit_with_value(std::size_t index) const {
  const Edit* const edit = index < changes_.size() ? changes_[index].data.get() : nullptr;
  if (edit != nullptr && !edit->value.empty()) return *edit;
  fail(ErrorCode::invalid_argument, "gradient: edit ", index, " has no value");
}

void Trace::apply(const Change& change, const Offered& offered) const {
  if (change.data == nullptr) {
    const Running::Scope scope(running_);
    return change.function(offered.name, offered.value);
  }
  clearformer::apply(*change.data, offered, steps_);
}

void Trace::check_all_met() const {
  for (const Change& change : changes_) {
    if (change.met) continue;
    fail(ErrorCode::invalid_argument, "edit: this pass has no hook point \"", change.pattern, "\"");
  }
}

const Tensor& Trace::at(std::string_view name) const {
  for (const Captured& entry : captured_) {
    if (entry.name == name) return entry.value;
  }
  fail(ErrorCode::invalid_argument, "trace: \"", name, "\" was not captured");
}

bool Trace::wants(std::string_view name) const {
  return captures(name) || edits(name) || (gradient_ != nullptr && gradient_->concerns(name));
}

void Trace::capture(Capture capture) {
  check(capture);
  parts_.push_back(std::move(capture));
}

bool Trace::captures(std::string_view name) const {
  return captures_whole(name) ||
         std::any_of(parts_.begin(), parts_.end(),
                     [&](const Capture& part) { return selects(part.hook, name); });
}

bool Trace::captures_whole(std::string_view name) const {
  return std::any_of(captures_.begin(), captures_.end(),
                     [&](const std::string& pattern) { return selects(pattern, name); });
}

bool Trace::edits(std::string_view name) const {
  return std::any_of(changes_.begin(), changes_.end(),
                     [&](const Change& change) { return selects(change.pattern, name); });
}

void Trace::visit(const Offered& offered) {
  if (!changes_.empty()) run_edits(offered);
  if (gradient_ != nullptr) {
    if (gradient_->replays()) return;
    gradient_->read(offered);
  }
  if (!parts_.empty()) capture_parts(offered);
  if (!captures_whole(offered.name)) return;
  captured_.push_back(
      {std::string(offered.name), std::string(offered.legend), Tensor::copy_of(offered.value)});
}

void Trace::run_edits(const Offered& offered) {
  for (Change& change : changes_) {
    if (!selects(change.pattern, offered.name)) continue;
    gradient_ != nullptr ? apply_kept(change, offered) : apply(change, offered);
    change.met = true;
  }
}

void Trace::capture_parts(const Offered& offered) {
  for (const Capture& part : parts_) {
    if (!selects(part.hook, offered.name)) continue;
    Captured entry = taken(part, offered, steps_);
    if (!entry.value.empty()) captured_.push_back(std::move(entry));
  }
}

// The names under which the value before an edit is kept, and what a function wrote.
std::string before_edit(std::string_view hook, std::size_t index) {
  return concat(hook, " before edit ", index);
}

std::string written_by(std::string_view hook, std::size_t index) {
  return concat(hook, " written by function ", index);
}

void Trace::apply_kept(const Change& change, const Offered& offered) const {
  const auto index = static_cast<std::size_t>(&change - changes_.data());
  const bool keeps = gradient_->keeping();
  if (change.data != nullptr) {
    using Op = Edit::Op;
    const Op op = change.data->op;
    const bool needed = op == Op::clamp || ((op == Op::scale || op == Op::project_out) &&
                                            gradient_->wants_edit(index));
    if (keeps && needed) gradient_->keep(before_edit(offered.name, index), offered.value);
    return apply(change, offered);
  }
  if (gradient_->replays()) {
    const Tensor* const written = gradient_->kept(written_by(offered.name, index));
    if (written != nullptr) {
      std::memcpy(offered.value.data(), written->data(), offered.value.bytes());
    }
    return;
  }
  if (!keeps && !gradient_->records()) return apply(change, offered);
  const Tensor before = Tensor::copy_of(offered.value);
  apply(change, offered);
  if (std::memcmp(before.data(), offered.value.data(), offered.value.bytes()) == 0) return;
  if (gradient_->records()) gradient_->keep(written_by(offered.name, index), offered.value);
  if (change.backward) return;
  fail(ErrorCode::unsupported, "gradient: a function changes ", offered.name,
       "; give its vector-Jacobian product as well, or an edit as data");
}

void Trace::visit_back(const Offered& gradient) const {
  for (std::size_t index = changes_.size(); index-- > 0;) {
    const Change& change = changes_[index];
    if (!selects(change.pattern, gradient.name)) continue;
    if (change.data == nullptr) {
      const Running::Scope scope(running_);
      if (change.backward) change.backward(gradient.name, gradient.value);
      continue;
    }
    const Tensor* before = gradient_->kept(before_edit(gradient.name, index));
    if (gradient_->wants_edit(index)) {
      gradient_->add_to_edit(index, value_gradient(*change.data, gradient, before));
    }
    apply_back(*change.data, gradient, before);
  }
}

}  // namespace clearformer
