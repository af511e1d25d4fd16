#include "clearformer/weights/weights.h"

#include <cstring>

namespace clearformer {

namespace {

// What the file must hold for `expected` to be one of its parts.
Shape stored_shape(const StoredName& stored, const Shape& expected) {
  Shape shape = expected;
  shape[0] *= stored.parts;
  if (stored.layout == Layout::in_out && shape.rank() == 2) std::swap(shape[0], shape[1]);
  return shape;
}

// Copies part `stored.part` of the outputs, turned to (out, in) where the file has (in, out).
Tensor copied_part(const Tensor& from, const StoredName& stored, const Shape& expected) {
  Tensor part = Weights::allocate(expected, DType::f32);
  const std::size_t outputs = expected[0];
  if (stored.layout == Layout::out_in || expected.rank() == 1) {
    std::memcpy(part.data(), from.f32() + stored.part * part.elements(),
                part.elements() * sizeof(float));
    return part;
  }
  const std::size_t inputs = expected[1], stride = outputs * stored.parts;
  const float* first = from.f32() + stored.part * outputs;
  for (std::size_t out = 0; out < outputs; ++out) {
    for (std::size_t in = 0; in < inputs; ++in)
      part.f32()[out * inputs + in] = first[in * stride + out];
  }
  return part;
}

}  // namespace

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

Tensor Weights::take(const StoredName& stored, const Shape& expected) {
  const Shape wanted = stored_shape(stored, expected);
  const auto found = entries_.find(stored.name);
  if (found == entries_.end()) {
    remember(ErrorCode::missing_tensor, "tensor \"", stored.name, "\" of shape ", wanted.text(),
             " is missing");
    return {};
  }
  Entry& entry = found->second;
  if (entry.parts_taken == stored.parts) {
    fail(ErrorCode::invalid_argument, "weights: \"", stored.name, "\" was taken twice");
  }
  if (!(entry.tensor.shape() == wanted)) {
    remember(ErrorCode::shape_mismatch, entry.file, ": tensor \"", stored.name, "\" has shape ",
             entry.tensor.shape().text(), ", expected ", wanted.text());
    entry.parts_taken = stored.parts;
    return {};
  }
  if (entry.tensor.dtype() != DType::f32) {
    remember(ErrorCode::dtype_mismatch, entry.file, ": tensor \"", stored.name, "\" holds ",
             to_string(entry.tensor.dtype()), ", expected a floating-point type");
    entry.parts_taken = stored.parts;
    return {};
  }
  ++entry.parts_taken;
  if (stored.parts == 1 && stored.layout == Layout::out_in) return std::move(entry.tensor);
  Tensor part = copied_part(entry.tensor, stored, expected);
  if (entry.parts_taken == stored.parts) entry.tensor = Tensor();
  return part;
}

// Each part of a tensor misses it anew.
void Weights::remember_once(ErrorCode code, std::string text) {
  for (const Problem& problem : problems_) {
    if (problem.text == text) return;
  }
  problems_.push_back({code, std::move(text)});
  if (problems_.size() == kMaxProblems) check(Unexpected::keep);
}

void Weights::check(Unexpected unexpected) const {
  std::string text;
  ErrorCode code = ErrorCode::invalid_argument;
  if (!problems_.empty()) code = problems_.front().code;
  const auto append = [&text](std::string_view line) {
    text += text.empty() ? "" : "; ";
    text += line;
  };
  for (const Problem& problem : problems_) append(problem.text);
  if (problems_.size() == kMaxProblems) append("and perhaps more");
  if (unexpected == Unexpected::refuse) {
    for (const std::string& name : unused()) append(concat("tensor \"", name, "\" is unexpected"));
  }
  if (!text.empty()) fail(code, "weights: ", text);
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) {
    if (entry.parts_taken == 0) names.push_back(name);
  }
  return names;
}

std::vector<std::string> Weights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace clearformer
