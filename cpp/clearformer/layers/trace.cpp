#include "clearformer/layers/trace.h"

#include <algorithm>
#include <memory>

#include "clearformer/layers/edit.h"

namespace clearformer {

bool is_on_request(std::string_view name) {
  for (const std::string_view leaf :
       {"hook_result", "hook_q_input", "hook_k_input", "hook_v_input", "hook_mlp_in"}) {
    if (name.ends_with(leaf)) return true;
  }
  return false;
}

bool selects(std::string_view pattern, std::string_view name) {
  if (!matches_pattern(name, pattern)) return false;
  return !is_on_request(name) ||
         !matches_pattern(concat(name.substr(0, name.rfind('.') + 1), "hook_"), pattern);
}

std::vector<std::string_view> axes_of(std::string_view legend) {
  std::vector<std::string_view> axes;
  while (!legend.empty()) {
    axes.push_back(legend.substr(0, legend.find(' ')));
    legend.remove_prefix(std::min(legend.size(), axes.back().size() + 1));
  }
  return axes;
}

void Trace::edit(std::string pattern, Function function) {
  changes_.push_back(
      {std::move(pattern), [function = std::move(function)](const Offered& offered, std::size_t) {
         function(offered.name, offered.value);
       }});
}

void Trace::edit(Edit edit) {
  check(edit);
  std::string pattern = edit.hook;
  changes_.push_back({std::move(pattern), [edit = std::make_shared<Edit>(std::move(edit))](
                                              const Offered& offered, std::size_t prompts) {
                        apply(*edit, offered, prompts);
                      }});
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

bool Trace::captures(std::string_view name) const {
  return std::any_of(captures_.begin(), captures_.end(),
                     [&](const std::string& pattern) { return selects(pattern, name); });
}

bool Trace::edits(std::string_view name) const {
  return std::any_of(changes_.begin(), changes_.end(),
                     [&](const Change& change) { return selects(change.pattern, name); });
}

void Trace::visit(const Offered& offered) {
  for (Change& change : changes_) {
    if (!selects(change.pattern, offered.name)) continue;
    change.apply(offered, prompts_);
    change.met = true;
  }
  if (!captures(offered.name)) return;
  captured_.push_back(
      {std::string(offered.name), std::string(offered.legend), Tensor::copy_of(offered.value)});
}

}  // namespace clearformer
