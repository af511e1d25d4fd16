#include "clearformer/kernels/activation_derivatives.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "clearformer/kernels/activations.h"
#include "clearformer/layers/feed_forward.h"
#include "support/closeness.h"
#include "support/differences.h"
#include "support/guarded.h"
#include "support/naive_kernels.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();

struct Curve {
  const char* name;
  Activation activation;
  double (*twin)(double);
  float minus_infinity, plus_infinity;  // limits of the slope
  std::vector<double> kinks = {};
};

const Curve kCurves[] = {
    {"relu", Activation::relu, naive::relu, 0, 1, {0.0}},
    {"silu", Activation::silu, naive::silu, 0, 1},
    {"gelu_erf", Activation::gelu_erf, naive::gelu_erf, 0, 1},
    {"gelu_tanh", Activation::gelu_tanh, naive::gelu_tanh, 0, 1},
    {"quick_gelu", Activation::quick_gelu, naive::quick_gelu, 0, 1},
    {"tanh", Activation::tanh, [](double x) { return std::tanh(x); }, 0, 0},
    {"linear", Activation::linear, [](double x) { return x; }, 1, 1},
    {"sigmoid", Activation::sigmoid, naive::sigmoid, 0, 0},
    {"softplus", Activation::softplus, naive::softplus, 0, 1},
    {"sqrt_softplus", Activation::sqrt_softplus,
     [](double x) { return std::sqrt(naive::softplus(x)); }, 0, 0},
    {"erf", Activation::erf, [](double x) { return std::erf(x); }, 0, 0},
    {"laplace", Activation::laplace, naive::laplace, 0, 0},
    {"mish", Activation::mish, naive::mish, 0, 1},
    {"relu_squared", Activation::relu_squared, naive::relu_squared, 0, kFar, {0.0}},
    {"relu6",
     Activation::relu6,
     [](double x) { return std::min(naive::relu(x), 6.0); },
     0,
     0,
     {0.0, 6.0}},
    {"leaky_relu",
     Activation::leaky_relu,
     [](double x) { return x < 0.0 ? 0.01 * x : x; },
     0.01f,
     1,
     {0.0}},
    {"hard_swish", Activation::hard_swish, naive::hard_swish, 0, 1, {-3.0, 3.0}},
    {"clipped_gelu",
     Activation::clipped_gelu,
     [](double x) { return std::min(naive::gelu_erf(x), 10.0); },
     0,
     0,
     {10.0}},
};

// Slopes are below 1.2, but relu_squared's; a few roundings of the argument of an exponential, times the slope of the
// slope, and of the products.
constexpr Bound kSlopeBound{gamma(32), gamma(8)};

bool near_a_kink(const Curve& curve, double x) {
  for (const double kink : curve.kinks) {
    if (std::abs(x - kink) < 4e-3) return true;
  }
  return false;
}

void expect_curve_slopes(const Curve& curve, std::vector<float> x, std::size_t offset) {
  for (float& value : x) value += near_a_kink(curve, double{value}) ? 0.01f : 0.0f;
  const auto d = Random(x.size()).list(x.size(), 0.5f, 1.0f);
  std::vector<double> expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto twin = [&](const std::vector<double>& at) { return curve.twin(at[0]); };
    expected.push_back(double{d[i]} * differences(twin, {double{x[i]}})[0]);
  }
  Guarded in(x, offset), out(d, offset + 2);
  apply_derivative(curve.activation, in.data(), out.data(), x.size());
  EXPECT_TRUE(out.intact());
  expect_close(curve.name, out.values(), expected, kSlopeBound);
}

TEST(ActivationDerivatives, EqualDifferencesOfTheTwinsForAllSizes) {
  Random random(1);
  for (const Curve& curve : kCurves) {
    SCOPED_TRACE(curve.name);
    for (std::size_t count = 0; count <= 33; ++count) {
      expect_curve_slopes(curve, random.list(count, -6, 6), count % 4);
    }
    std::vector<float> x;
    for (float value = -30.0f; value <= 30.0f; value += 0.013f) x.push_back(value);
    expect_curve_slopes(curve, x, 1);
  }
}

TEST(ActivationDerivatives, ReachTheirLimitsWithoutNaNAndAreTorchsAtKinks) {
  for (const Curve& curve : kCurves) {
    SCOPED_TRACE(curve.name);
    for (const float far : {FLT_MAX, kFar}) {
      std::vector<float> d{1.0f, 1.0f};
      const std::vector<float> x{-far, far};
      apply_derivative(curve.activation, x.data(), d.data(), 2);
      const bool finite = far == FLT_MAX && std::isinf(curve.plus_infinity);
      const std::vector<float> limits{curve.minus_infinity, finite ? d[1] : curve.plus_infinity};
      expect_close("limits", d, limits, Bound{1e-15});
    }
  }
  const auto at = [](Activation activation, float x) {
    float d = 1.0f;
    apply_derivative(activation, &x, &d, 1);
    return d;
  };
  EXPECT_EQ(at(Activation::relu, 0.0f), 0.0f);
  EXPECT_EQ(at(Activation::relu6, 0.0f), 0.0f);
  EXPECT_EQ(at(Activation::relu6, 6.0f), 0.0f);
  EXPECT_EQ(at(Activation::leaky_relu, 0.0f), 0.01f);
  EXPECT_EQ(at(Activation::clipped_gelu, 10.0f), 1.0f);
  EXPECT_EQ(at(Activation::hard_swish, -3.0f), 0.0f);
  EXPECT_EQ(at(Activation::hard_swish, 3.0f), 1.0f);
}

TEST(SoftcapDerivative, EqualsDifferencesOfTheFormulaFromTheCappedScore) {
  const auto x = Random(5).list(33, -40, 40);
  for (const float cap : {5.0f, 30.0f}) {
    Guarded capped(x, 1), d(std::vector<float>(33, 1.0f), 2);
    kernels::softcap(capped.data(), cap, 33);
    std::vector<double> expected;
    for (const float score : x) {
      expected.push_back(1.0 - std::pow(std::tanh(double{score} / double{cap}), 2));
    }
    kernels::softcap_derivative(capped.data(), cap, d.data(), 33);
    EXPECT_TRUE(d.intact());
    expect_close("d", d.values(), expected, Bound{gamma(24)});
  }
  float hidden = -kFar, d = 1.0f;
  kernels::softcap_derivative(&hidden, 30.0f, &d, 1);
  EXPECT_EQ(d, 0.0f);
}

}  // namespace
}  // namespace clearformer::test
