#include "clearformer/weights/scope.h"

namespace clearformer {

WeightScope WeightScope::operator/(std::string_view child) const {
  return {*weights_, *names_, path(child)};
}

std::string WeightScope::path(std::string_view leaf) const {
  return path_.empty() ? std::string(leaf) : concat(path_, ".", leaf);
}

bool WeightScope::has(std::string_view leaf) const {
  return weights_->contains(names_->stored(path(leaf)).name);
}

std::optional<Shape> WeightScope::stored_shape(std::string_view leaf) const {
  const std::string name = names_->stored(path(leaf)).name;
  if (!weights_->contains(name)) return std::nullopt;
  return weights_->shape(name);
}

Tensor WeightScope::take(std::string_view leaf, const Shape& expected) const {
  return weights_->take(names_->stored(path(leaf)), expected);
}

}  // namespace clearformer
