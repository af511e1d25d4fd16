#include "clearformer/weights/scope.h"

namespace clearformer {

WeightScope WeightScope::operator/(std::string_view child) const {
  std::string path = path_;
  if (!path.empty()) path += '.';
  return {*weights_, *names_, path + std::string(child)};
}

std::string WeightScope::name(std::string_view leaf) const {
  std::string module = names_->theirs(path_);
  if (!module.empty() && module.back() != '.') module += '.';
  return module + std::string(leaf);
}

bool WeightScope::has(std::string_view leaf) const { return weights_->contains(name(leaf)); }

Tensor WeightScope::take(std::string_view leaf, const Shape& expected) const {
  return weights_->take(name(leaf), expected);
}

}  // namespace clearformer
