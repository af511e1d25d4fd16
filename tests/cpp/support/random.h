// Seeded random numbers, the same on every platform.
#pragma once

#include <random>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
  float uniform(float low = -1.0f, float high = 1.0f) {
    return static_cast<float>(low + (static_cast<double>(high) - low) * unit());
  }
  /// An integer from 0 to end - 1.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(generator_() % end); }

  std::vector<float> list(std::size_t count, float low = -1.0f, float high = 1.0f) {
    std::vector<float> values(count);
    for (float& value : values) value = uniform(low, high);
    return values;
  }

  Tensor tensor(const Shape& shape, float low = -1.0f, float high = 1.0f) {
    Tensor values(shape);
    for (std::size_t i = 0; i < values.elements(); ++i) values.f32()[i] = uniform(low, high);
    return values;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace clearformer::test
