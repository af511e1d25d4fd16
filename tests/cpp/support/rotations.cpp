#include "support/rotations.h"

#include <algorithm>
#include <cmath>

namespace clearformer::test {

double largest(TensorView x) {
  double most = 0.0;
  for (std::size_t i = 0; i < x.elements(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(x.f32()[i])));
  }
  return most;
}

std::vector<double> rotation_bounds(TensorView x, const RotaryConfig& config, double factor) {
  const std::size_t d = x.shape().back(0), pairs = config.rotary_dim / 2;
  std::vector<double> bounds(x.elements());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const std::size_t element = i % d;
    const float* vector = x.f32() + (i - element);
    if (element >= 2 * pairs) continue;  // unchanged: no error at all
    const std::size_t partner = config.layout == RotaryLayout::interleaved ? element ^ 1u
                                : element < pairs                          ? element + pairs
                                                                           : element - pairs;
    const double size = std::abs(static_cast<double>(vector[element])) +
                        std::abs(static_cast<double>(vector[partner]));
    bounds[i] = (gamma(4) + 1e-10) * factor * size;
  }
  return bounds;
}

Tensor to_layout(TensorView x, RotaryLayout layout) {
  const std::size_t d = x.shape().back(0), half = d / 2;
  Tensor result(x.shape());
  for (std::size_t i = 0; i < x.elements(); ++i) {
    const std::size_t row = i / d * d, in_halves = i % d;
    const std::size_t interleaved = in_halves < half ? 2 * in_halves : 2 * (in_halves - half) + 1;
    if (layout == RotaryLayout::halves) {
      result.f32()[row + in_halves] = x.f32()[row + interleaved];
    } else {
      result.f32()[row + interleaved] = x.f32()[row + in_halves];
    }
  }
  return result;
}

}  // namespace clearformer::test
