// The naive twin (reference implementation) of every kernel: plain loops in double, straight from the formula.
#pragma once

#include <cstddef>
#include <vector>

namespace clearformer::test::naive {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

struct Product {
  Doubles values;         // (M, N) A·B + bias
  Doubles of_magnitudes;  // (M, N) the same of |A|, |B| and |bias|, which scales rounding errors
};
/// A (M, K), B (K, N), bias (N) or empty.
Product matmul(const Floats& a, const Floats& b, const Floats& bias, std::size_t m, std::size_t n,
               std::size_t k);

/// Over the last axis; a row of -inf gives zeros.
Doubles softmax(const Floats& x, std::size_t columns);

struct Normalized {
  Doubles centered;    // x - mean
  Doubles scale;       // sqrt(mean(centered²) + eps), one per row
  Doubles normalized;  // centered / scale
};
Normalized layer_norm(const Floats& x, std::size_t columns, double eps);
/// centered is x itself.
Normalized rms_norm(const Floats& x, std::size_t columns, double eps);

double relu(double x);
double silu(double x);
double gelu_erf(double x);
double gelu_tanh(double x);
double quick_gelu(double x);
double sigmoid(double x);
double softplus(double x);
double relu_squared(double x);
double mish(double x);
double laplace(double x);
double hard_swish(double x);

/// One head vector, with the first 2·half elements of x rotated.
Doubles rotate_halves(const Floats& x, const Floats& cosines, const Floats& sines);
/// The same for adjacent pairs.
Doubles rotate_interleaved(const Floats& x, const Floats& cosines, const Floats& sines);

}  // namespace clearformer::test::naive
