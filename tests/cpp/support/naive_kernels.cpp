#include "support/naive_kernels.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace clearformer::test::naive {

Product matmul(const Floats& a, const Floats& b, const Floats& bias, std::size_t m, std::size_t n,
               std::size_t k) {
  Product product{Doubles(m * n), Doubles(m * n)};
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      double sum = bias.empty() ? 0.0 : static_cast<double>(bias[column]);
      double magnitudes = std::abs(sum);
      for (std::size_t i = 0; i < k; ++i) {
        const double term = static_cast<double>(a[row * k + i]) * b[i * n + column];
        sum += term;
        magnitudes += std::abs(term);
      }
      product.values[row * n + column] = sum;
      product.of_magnitudes[row * n + column] = magnitudes;
    }
  }
  return product;
}

Doubles softmax(const Floats& x, std::size_t columns) {
  Doubles result(x.size(), 0.0);
  for (std::size_t row = 0; columns != 0 && row < x.size(); row += columns) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (std::size_t i = 0; i < columns; ++i) top = std::max(top, static_cast<double>(x[row + i]));
    if (std::isinf(top)) continue;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(x[row + i] - top);
    for (std::size_t i = 0; i < columns; ++i) result[row + i] = std::exp(x[row + i] - top) / sum;
  }
  return result;
}

namespace {

Normalized normalize(Doubles centered, std::size_t columns, double eps) {
  Normalized result{std::move(centered), {}, {}};
  for (std::size_t row = 0; row < result.centered.size(); row += columns) {
    double squares = 0.0;
    for (std::size_t i = 0; i < columns; ++i) {
      squares += result.centered[row + i] * result.centered[row + i];
    }
    const double scale = std::sqrt(squares / static_cast<double>(columns) + eps);
    result.scale.push_back(scale);
    for (std::size_t i = 0; i < columns; ++i) {
      result.normalized.push_back(result.centered[row + i] / scale);
    }
  }
  return result;
}

}  // namespace

Normalized layer_norm(const Floats& x, std::size_t columns, double eps) {
  Doubles centered(x.begin(), x.end());
  for (std::size_t row = 0; row < x.size(); row += columns) {
    double sum = 0.0;
    for (std::size_t i = 0; i < columns; ++i) sum += x[row + i];
    for (std::size_t i = 0; i < columns; ++i)
      centered[row + i] -= sum / static_cast<double>(columns);
  }
  return normalize(std::move(centered), columns, eps);
}

Normalized rms_norm(const Floats& x, std::size_t columns, double eps) {
  return normalize(Doubles(x.begin(), x.end()), columns, eps);
}

double relu(double x) { return std::isnan(x) ? x : std::max(x, 0.0); }

// The limits at -inf are 0; the formulas give NaN there.
double silu(double x) { return std::isinf(x) && x < 0.0 ? 0.0 : x / (1.0 + std::exp(-x)); }

double gelu_erf(double x) {
  if (std::isinf(x)) return std::max(x, 0.0);
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}

double gelu_tanh(double x) {
  if (std::isinf(x)) return std::max(x, 0.0);
  const double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  // 1 + tanh(y) = 2 / (1 + exp(-2y)), which avoids cancellation where tanh is near -1.
  return x / (1.0 + std::exp(-2.0 * inner));
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double quick_gelu(double x) { return std::isinf(x) ? std::max(x, 0.0) : x * sigmoid(1.702 * x); }

double softplus(double x) {
  return x > 40.0 ? x : std::log1p(std::exp(x));  // exp(-40) is below the epsilon of double
}

double relu_squared(double x) {
  const double square = relu(x) * relu(x);
  return square > FLT_MAX ? INFINITY : square;
}

double mish(double x) { return std::isinf(x) ? std::max(x, 0.0) : x * std::tanh(softplus(x)); }

double laplace(double x) { return 0.5 * std::erfc(-(x - 0.707107) / (0.282095 * std::sqrt(2.0))); }

double hard_swish(double x) {
  return std::isinf(x) ? std::max(x, 0.0) : x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0;
}

Doubles rotate_halves(const Floats& x, const Floats& cosines, const Floats& sines) {
  Doubles result(x.begin(), x.end());
  const std::size_t half = cosines.size();
  for (std::size_t i = 0; i < half; ++i) {
    const double a = x[i], b = x[i + half], cosine = cosines[i], sine = sines[i];
    result[i] = a * cosine - b * sine;
    result[i + half] = b * cosine + a * sine;
  }
  return result;
}

Doubles rotate_interleaved(const Floats& x, const Floats& cosines, const Floats& sines) {
  Doubles result(x.begin(), x.end());
  for (std::size_t i = 0; i < cosines.size(); ++i) {
    const double a = x[2 * i], b = x[2 * i + 1], cosine = cosines[i], sine = sines[i];
    result[2 * i] = a * cosine - b * sine;
    result[2 * i + 1] = b * cosine + a * sine;
  }
  return result;
}

}  // namespace clearformer::test::naive
