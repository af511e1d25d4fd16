// Weights for a single layer: names, shapes, random or given values.
#pragma once

#include <string>

#include "clearformer/weights/scope.h"
#include "support/random.h"

namespace clearformer::test {

class LayerWeights {
 public:
  explicit LayerWeights(std::uint64_t seed = 1) : random_(seed) {}

  /// Adds a random tensor; returns a copy of it for comparison.
  Tensor add(const std::string& name, const Shape& shape, float low = -1.0f, float high = 1.0f) {
    return add(name, random_.tensor(shape, low, high));
  }
  Tensor add(const std::string& name, Tensor values) {
    Tensor copy = values.clone();
    weights_.add(name, "layer.safetensors", std::move(values));
    return copy;
  }

  WeightScope scope() { return {weights_, names_}; }
  /// The parameters taken so far.
  std::vector<Parameter> take_parameters() { return weights_.take_parameters(); }
  /// Throws for tensors that are missing, misshapen or unused.
  void check() const { weights_.check(Weights::Unexpected::refuse); }

 private:
  Random random_;
  Weights weights_;
  NameMap names_;
};

}  // namespace clearformer::test
