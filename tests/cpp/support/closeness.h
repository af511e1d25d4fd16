// Comparison of whole tensors. A failure reports the worst element, not the first: its index, both
// values, and how many times the bound its error is.
#pragma once

#include <string>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer::test {

/// Unit roundoff of float: a rounded result is within this fraction of the exact one.
inline constexpr double kRoundoff = 0x1p-24;

/// γ(n) = n·u / (1 - n·u): n successive roundings change a result by at most this fraction.
/// Source: Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1.
constexpr double gamma(double roundings) {
  return roundings * kRoundoff / (1.0 - roundings * kRoundoff);
}

/// The error bound of an element: absolute + relative·|expected| + of_largest·max|expected|.
struct Bound {
  double absolute = 0.0;
  double relative = 0.0;
  double of_largest = 0.0;
};

/// The required bound for logits and all intermediate values.
inline constexpr Bound kModelBound{2e-5, 0.0, 1e-5};

/// A tensor's shape and its values in double.
struct Numbers {
  Numbers(TensorView tensor);                // NOLINT: implicit
  Numbers(const Tensor& tensor);             // NOLINT
  Numbers(const std::vector<float>& list);   // NOLINT
  Numbers(const std::vector<double>& list);  // NOLINT
  Shape shape;
  std::vector<double> values;
};

/// The line from which a check was called.
struct Place {
  static Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  const char* file;
  int line;
};

/// Checks that shapes are equal and every element is within the bound; infinities must be equal, NaN is close to
/// NaN only. `what` names the tensor in the report.
void expect_close(const std::string& what, const Numbers& actual, const Numbers& expected,
                  Bound bound, Place place = Place::here());
/// The same with a bound per element.
void expect_close(const std::string& what, const Numbers& actual, const Numbers& expected,
                  const std::vector<double>& bounds, Place place = Place::here());

/// Checks that shapes and all bits are equal.
void expect_same_bits(const std::string& what, TensorView actual, TensorView expected,
                      Place place = Place::here());
void expect_same_bits(const std::string& what, const std::vector<float>& actual,
                      const std::vector<float>& expected, Place place = Place::here());

}  // namespace clearformer::test
