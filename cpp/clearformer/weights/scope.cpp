#include "clearformer/weights/scope.h"

#include <algorithm>

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
  const Shape* shape = weights_->shape(names_->stored(path(leaf)).name);
  return shape == nullptr ? std::nullopt : std::optional<Shape>(*shape);
}

Tensor WeightScope::take_flat(std::string_view leaf, const Shape& expected) const {
  const Shape stored = stored_shape(leaf).value_or(expected);
  bool same = stored.rank() >= 1 && stored.elements() == expected.elements();
  for (std::size_t axis = 0; same && axis < std::max(stored.rank(), expected.rank()); ++axis) {
    const std::size_t found = axis < stored.rank() ? stored.back(axis) : 1;
    same = found == (axis < expected.rank() ? expected.back(axis) : 1);
  }
  Tensor tensor = take(leaf, same ? stored : expected);
  if (!tensor.empty()) tensor.reshape(expected);
  return tensor;
}

Tensor WeightScope::take(std::string_view leaf, const Shape& expected) const {
  const std::string ours = path(leaf);
  return weights_->take(names_->stored(ours), expected, ours);
}

void WeightScope::hold(std::string_view leaf, std::shared_ptr<WeightRows> rows,
                       std::shared_ptr<LowRankUpdates> updates) const {
  weights_->hold(path(leaf), std::move(rows), std::move(updates));
}

Matrix WeightScope::take_matrix(std::string_view leaf, const Shape& expected,
                                MatrixRole role) const {
  const std::string ours = path(leaf);
  return weights_->take_matrix(names_->stored(ours), expected, role, ours);
}

}  // namespace clearformer
