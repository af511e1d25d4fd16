#include "clearformer/layers/trace.h"

namespace clearformer {

const Tensor& Trace::at(std::string_view name) const {
  for (const Captured& entry : captured_) {
    if (entry.name == name) return entry.value;
  }
  fail(ErrorCode::invalid_argument, "trace: \"", name, "\" was not captured");
}

bool Trace::captures(std::string_view name) const {
  for (const std::string& pattern : captures_) {
    if (matches_pattern(name, pattern)) return true;
  }
  return false;
}

bool Trace::edits(std::string_view name) const {
  for (const auto& [pattern, edit] : edits_) {
    if (matches_pattern(name, pattern)) return true;
  }
  return false;
}

void Trace::visit(const std::string& name, MutableTensorView value, std::string_view legend) {
  for (const auto& [pattern, edit] : edits_) {
    if (matches_pattern(name, pattern)) edit(name, value);
  }
  if (captures(name)) captured_.push_back({name, std::string(legend), Tensor::copy_of(value)});
}

}  // namespace clearformer
