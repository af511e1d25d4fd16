// Gradients of layers by steps of the layer itself, in floats: coarse, but of any layer, as a check of formulas.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/gradient.h"
#include "support/random.h"

namespace clearformer::test {

/// Checks that, for some random directions u, loss(x + h·u) changes as the gradient says: Σ gradient·u within 2e-3 of
/// the gradient's length. The loss is a smooth function of x, evaluated in floats.
template <class Loss>
void expect_slopes(const char* what, Tensor& x, const std::vector<float>& gradient,
                   const Loss& loss, double step = 0.02) {
  ASSERT_EQ(gradient.size(), x.elements()) << what;
  double length = 0.0;
  for (const float value : gradient) length += double{value} * value;
  length = std::sqrt(length) + 1e-3;
  EXPECT_GT(length, 2e-3) << what << " has no gradient";
  const Tensor before = x.clone();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto u = Random(seed).list(x.elements());
    double size = 0.0, expected = 0.0;
    for (const float value : u) size += double{value} * value;
    size = std::sqrt(size);
    const auto at = [&](double by) {
      for (std::size_t i = 0; i < x.elements(); ++i) {
        x.f32()[i] = static_cast<float>(before.f32()[i] + by * step * u[i] / size);
      }
      return loss();
    };
    const double found = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
    for (std::size_t i = 0; i < u.size(); ++i) expected += double{gradient[i]} * u[i] / size;
    EXPECT_NEAR(found, expected, 2e-3 * length) << what << ", direction " << seed;
    std::copy_n(before.f32(), x.elements(), x.f32());
  }
}

/// A trace whose pass is differentiated with respect to parameters, from outside of a model.
struct Differentiated {
  Trace trace;
  Gradient gradient;

  explicit Differentiated(const std::vector<Parameter>& parameters) {
    gradient.begin_layers();
    for (const Parameter& parameter : parameters) gradient.weights().want(parameter);
    trace.differentiate(&gradient);
  }
};

/// The numbers of a parameter, or of its gradient.
inline std::vector<float> numbers_of(const WeightRows& rows) {
  std::vector<float> numbers(rows.outputs() * rows.inputs());
  for (std::size_t n = 0; n < rows.outputs(); ++n) {
    rows.copy_row(n, numbers.data() + n * rows.inputs());
  }
  return numbers;
}

/// expect_slopes() for every parameter.
template <class Loss>
void expect_weight_slopes(const std::vector<Parameter>& parameters,
                          const WeightGradients& gradients, const Loss& loss, double step = 0.02) {
  for (const Parameter& parameter : parameters) {
    WeightRows& rows = *parameter.rows;
    Tensor numbers({rows.outputs(), rows.inputs()});
    const auto before = numbers_of(rows);
    std::copy(before.begin(), before.end(), numbers.f32());
    const auto store = [&] {
      for (std::size_t n = 0; n < rows.outputs(); ++n) {
        rows.set_row(n, numbers.f32() + n * rows.inputs());
      }
    };
    expect_slopes(
        parameter.path.c_str(), numbers, numbers_of(*gradients.rows(parameter)),
        [&] {
          store();
          return loss();
        },
        step);
    store();
  }
}

}  // namespace clearformer::test
