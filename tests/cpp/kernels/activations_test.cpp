#include "clearformer/kernels/activations.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/fixture.h"
#include "support/guarded.h"
#include "support/naive_kernels.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

using Activation = void (*)(const float*, float*, std::size_t);
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Errors {
  double of_y = 8.0;  // error relative to |y| and |x|, in units of u
  double of_x = 0.0;
  double absolute = 0.0;
};

// exp, tanh and erf have an error of a few units in the last place of 1; the formulas multiply that by |x|
// (where 1 + erf or 1 + tanh cancel, the absolute error remains). silu has no such sum.
double bound_of(double x, double y, const Errors& errors) {
  return FLT_MIN * (1.0 + std::abs(x)) + errors.absolute + gamma(errors.of_y) * std::abs(y) +
         gamma(errors.of_x) * std::abs(x);
}

struct Function {
  const char* name;
  Activation kernel;
  double (*twin)(double);
  double minus_infinity;  // the limits
  double plus_infinity;
  Errors errors = {};
};

// Lambdas: the kernels are function pointers on x86-64 and functions elsewhere.
const Function kFunctions[] = {
    {"relu", [](const float* in, float* out, std::size_t n) { kernels::relu(in, out, n); },
     naive::relu, 0.0, INFINITY},
    {"silu", [](const float* in, float* out, std::size_t n) { kernels::silu(in, out, n); },
     naive::silu, 0.0, INFINITY},
    {"gelu_erf",
     [](const float* in, float* out, std::size_t n) { kernels::gelu_erf(in, out, n); },
     naive::gelu_erf,
     0.0,
     INFINITY,
     {.of_x = 3.0}},
    {"gelu_tanh",
     [](const float* in, float* out, std::size_t n) { kernels::gelu_tanh(in, out, n); },
     naive::gelu_tanh,
     0.0,
     INFINITY,
     {.of_x = 3.0}},
    {"tanh",
     [](const float* in, float* out, std::size_t n) { kernels::hyperbolic_tangent(in, out, n); },
     [](double x) { return std::tanh(x); }, -1.0, 1.0},
    // 1.702 x, up to 104 where the result underflows, is rounded twice before it enters the exponent.
    {"quick_gelu",
     [](const float* in, float* out, std::size_t n) { kernels::quick_gelu(in, out, n); },
     naive::quick_gelu,
     0.0,
     INFINITY,
     {.of_y = 220.0}},
    {"sigmoid", [](const float* in, float* out, std::size_t n) { kernels::sigmoid(in, out, n); },
     naive::sigmoid, 0.0, 1.0},
    {"softplus", [](const float* in, float* out, std::size_t n) { kernels::softplus(in, out, n); },
     naive::softplus, 0.0, INFINITY},
    // exp(x) below FLT_MIN is flushed to 0, and so is its root.
    {"sqrt_softplus",
     [](const float* in, float* out, std::size_t n) { kernels::sqrt_softplus(in, out, n); },
     [](double x) { return std::sqrt(naive::softplus(x)); },
     0.0,
     INFINITY,
     {.absolute = std::sqrt(FLT_MIN)}},
    {"error_function",
     [](const float* in, float* out, std::size_t n) { kernels::error_function(in, out, n); },
     [](double x) { return std::erf(x); }, -1.0, 1.0},
    {"laplace",
     [](const float* in, float* out, std::size_t n) { kernels::laplace(in, out, n); },
     naive::laplace,
     0.0,
     1.0,
     {.absolute = gamma(8)}},
    {"mish",
     [](const float* in, float* out, std::size_t n) { kernels::mish(in, out, n); },
     naive::mish,
     0.0,
     INFINITY,
     {.of_y = 12.0}},
    {"relu_squared",
     [](const float* in, float* out, std::size_t n) { kernels::relu_squared(in, out, n); },
     naive::relu_squared, 0.0, INFINITY},
    {"relu6", [](const float* in, float* out, std::size_t n) { kernels::relu6(in, out, n); },
     [](double x) { return std::min(naive::relu(x), 6.0); }, 0.0, 6.0},
    {"leaky_relu",
     [](const float* in, float* out, std::size_t n) { kernels::leaky_relu(in, out, n); },
     [](double x) { return x < 0.0 ? 0.01 * x : x; }, -INFINITY, INFINITY},
    {"hard_swish",
     [](const float* in, float* out, std::size_t n) { kernels::hard_swish(in, out, n); },
     naive::hard_swish,
     0.0,
     INFINITY,
     {.of_x = 1.0}},
    {"clipped_gelu",
     [](const float* in, float* out, std::size_t n) { kernels::clipped_gelu(in, out, n); },
     [](double x) { return std::min(naive::gelu_erf(x), 10.0); },
     0.0,
     10.0,
     {.of_x = 3.0}},
};

class Activations : public ::testing::TestWithParam<Function> {
 protected:
  static std::vector<float> applied(const std::vector<float>& x, std::size_t offset = 1) {
    Guarded in(x, offset), out(x.size(), offset + 2);
    GetParam().kernel(in.data(), out.data(), x.size());
    EXPECT_TRUE(out.intact());
    GetParam().kernel(in.data(), in.data(), x.size());
    EXPECT_TRUE(in.intact());
    expect_same_bits("in place", in.values(), out.values());
    return out.values();
  }

  static void expect_right(const std::vector<float>& x, std::size_t offset = 1) {
    std::vector<double> expected, bounds;
    for (const float value : x) {
      expected.push_back(GetParam().twin(double{value}));
      bounds.push_back(bound_of(double{value}, expected.back(), GetParam().errors));
    }
    expect_close(GetParam().name, applied(x, offset), expected, bounds);
  }
};

TEST_P(Activations, EqualsTheNaiveTwinForAllSizes) {
  Random random(1);
  for (std::size_t count = 0; count <= 33; ++count)
    expect_right(random.list(count, -6, 6), count % 4);
}

TEST_P(Activations, EqualsTheNaiveTwinOverTheWholeRange) {
  std::vector<float> x;
  for (float magnitude = 1e-40f; magnitude < 3e38f; magnitude *= 1.07f) {
    x.push_back(magnitude);
    x.push_back(-magnitude);
  }
  for (float value = -20.0f; value <= 20.0f; value += 0.003f) x.push_back(value);
  expect_right(x);
}

TEST(Erf, KeepsTheSignOfZero) {
  std::vector<float> x(17, -0.0f);
  kernels::error_function(x.data(), x.data(), x.size());
  for (const float value : x) EXPECT_TRUE(value == 0.0f && std::signbit(value));
}

TEST_P(Activations, ReachesItsLimitsAtInfinity) {
  for (std::size_t count = 1; count <= 17; ++count) {
    for (const float value : applied(std::vector<float>(count, -kInfinity))) {
      EXPECT_EQ(value, GetParam().minus_infinity);
    }
    for (const float value : applied(std::vector<float>(count, kInfinity))) {
      EXPECT_EQ(value, GetParam().plus_infinity);
    }
    if (std::isinf(GetParam().minus_infinity)) continue;  // not yet reached at the lowest float
    for (const float value : applied(std::vector<float>(count, -FLT_MAX))) {
      EXPECT_EQ(value, GetParam().minus_infinity);
    }
  }
}

TEST_P(Activations, ANaNIsNotHidden) {
  for (std::size_t count = 1; count <= 17; ++count) {
    for (const float value : applied(std::vector<float>(count, kNaN)))
      EXPECT_TRUE(std::isnan(value));
  }
}

TEST_P(Activations, ZeroGivesZero) {
  if (GetParam().twin(0.0) != 0.0) GTEST_SKIP() << "not this one";
  for (const float value : applied({0.0f, -0.0f})) EXPECT_EQ(value, 0.0f);
}

// An element's bits do not depend on its neighbours or its position.
TEST_P(Activations, AnElementHasTheSameBitsEverywhere) {
  const auto x = Random(2).list(37, -8, 8), all = applied(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expect_same_bits(concat("element ", i), applied({x[i]}), std::vector<float>{all[i]});
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, Activations, ::testing::ValuesIn(kFunctions),
                         [](const auto& function) { return std::string(function.param.name); });

TEST(ActivationReferences, HoldOnTheAdversarialInputs) {
  const Fixture fixture("adversarial");
  const std::pair<const char*, const Function*> references[] = {
      {"activation_silu", &kFunctions[1]},
      {"activation_gelu", &kFunctions[2]},
      {"activation_gelu_tanh", &kFunctions[3]}};
  for (const auto& [name, function] : references) {
    const Tensor& x = fixture.at(name).input("input");
    const Numbers expected(fixture.at(name).output("output"));
    Tensor y(x.shape());
    function->kernel(x.f32(), y.f32(), x.elements());
    std::vector<double> bounds;
    for (std::size_t i = 0; i < x.elements(); ++i) {
      const double at = std::isfinite(x.f32()[i]) ? double{x.f32()[i]} : 0.0;
      bounds.push_back(bound_of(at, std::isfinite(expected.values[i]) ? expected.values[i] : 0.0,
                                function->errors));
    }
    expect_close(name, y, expected, bounds);
  }
}

TEST(Softcap, EqualsTheFormula) {
  Random random(3);
  for (std::size_t count = 0; count <= 33; ++count) {
    for (const float cap : {0.5f, 30.0f}) {
      const auto x = random.list(count, -90, 90);
      std::vector<double> expected;
      for (const float score : x) expected.push_back(double{cap} * std::tanh(double{score} / cap));
      Guarded values(x, count % 4);
      kernels::softcap(values.data(), cap, count);
      EXPECT_TRUE(values.intact());
      expect_close(concat(count, " elements"), values.values(), expected, Bound{0.0, gamma(8)});
    }
  }
}

}  // namespace
}  // namespace clearformer::test
