#include "support/naive_layers.h"

namespace clearformer::test::naive {

std::vector<double> linear(const std::vector<double>& x, const Tensor& weight, const Tensor& bias) {
  const std::size_t outputs = weight.dim(0), inputs = weight.dim(1);
  std::vector<double> y;
  for (std::size_t row = 0; row < x.size() / inputs; ++row) {
    for (std::size_t out = 0; out < outputs; ++out) {
      double sum = bias.empty() ? 0.0 : double{bias.f32()[out]};
      for (std::size_t in = 0; in < inputs; ++in) {
        sum += x[row * inputs + in] * weight.f32()[out * inputs + in];
      }
      y.push_back(sum);
    }
  }
  return y;
}

}  // namespace clearformer::test::naive
