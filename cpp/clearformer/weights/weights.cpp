#include "clearformer/weights/weights.h"

namespace clearformer {

Tensor Weights::allocate(const Shape& shape, DType dtype) {
  std::size_t spare = 0;
  if (shape.rank() == 2 && dtype == DType::f32) {
    spare = (kRowMultiple - shape[0] % kRowMultiple) % kRowMultiple * shape[1];
  }
  return Tensor(shape, dtype, spare);
}

void Weights::add(std::string name, std::string file, Tensor tensor) {
  if (const auto found = entries_.find(name); found != entries_.end()) {
    fail(ErrorCode::malformed_file, file, ": tensor \"", name, "\" is also in ",
         found->second.file);
  }
  entries_.emplace(std::move(name), Entry{std::move(file), std::move(tensor)});
}

const Shape& Weights::shape(std::string_view name) const {
  return entries_.find(name)->second.tensor.shape();
}

Weights::Entry& Weights::checked(const std::string& name, const Shape& expected) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    fail(ErrorCode::missing_tensor, "checkpoint: tensor \"", name, "\" of shape ", expected.text(),
         " is missing");
  }
  Entry& entry = found->second;
  if (entry.tensor.empty()) {
    fail(ErrorCode::invalid_argument, "checkpoint: tensor \"", name, "\" was taken twice");
  }
  if (!(entry.tensor.shape() == expected)) {
    fail(ErrorCode::shape_mismatch, entry.file, ": tensor \"", name, "\" has shape ",
         entry.tensor.shape().text(), ", the config asks for ", expected.text());
  }
  if (entry.tensor.dtype() != DType::f32) {
    fail(ErrorCode::dtype_mismatch, entry.file, ": tensor \"", name, "\" holds ",
         to_string(entry.tensor.dtype()), ", a floating-point type is needed");
  }
  entry.used = true;
  return entry;
}

Tensor Weights::take(const std::string& name, const Shape& expected) {
  return std::move(checked(name, expected).tensor);
}

TensorView Weights::read(const std::string& name, const Shape& expected) {
  return checked(name, expected).tensor.view();
}

void Weights::drop(std::string_view name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) found->second.tensor = Tensor();
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) {
    if (!entry.used) names.push_back(name);
  }
  return names;
}

std::vector<std::string> Weights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace clearformer
