// Derivatives of a naive twin in double, by differences: the reference of backward passes.
#pragma once

#include <cstddef>
#include <vector>

namespace clearformer::test {

/// The gradient of loss(x), a function of a list of doubles, at x: of fourth order, with an error of about 1e-11 for
/// values and higher derivatives near 1.
template <class Loss>
std::vector<double> differences(const Loss& loss, std::vector<double> x, double step = 1e-3) {
  std::vector<double> gradient(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    const auto moved = [&](double by) {
      x[i] = at + by * step;
      return loss(x);
    };
    gradient[i] = (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * step);
    x[i] = at;
  }
  return gradient;
}

/// Σ weights · values: turns the result of a layer into a loss whose gradient of the result is `weights`.
template <class Values, class Weights>
double weighted_sum(const Values& values, const Weights& weights) {
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += static_cast<double>(values[i]) * static_cast<double>(weights[i]);
  }
  return sum;
}

/// The floats of a tensor as doubles.
template <class TensorLike>
std::vector<double> doubles_of(const TensorLike& tensor) {
  if (tensor.elements() == 0) return {};
  return {tensor.f32(), tensor.f32() + tensor.elements()};
}

}  // namespace clearformer::test
