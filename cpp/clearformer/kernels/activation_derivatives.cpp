#include "clearformer/kernels/activation_derivatives.h"

#include <limits>

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

// One loop for all: the indirect call per register is little beside the matrix products of a backward pass.
CLEARFORMER_LOOP void multiply_by(const float* x, float* d, std::size_t count, Vec (*slope)(Vec)) {
  transform(x, d, d, count, [slope](Vec value, Vec by) { return by * slope(value); });
}

Vec where_above(Vec x, float limit, Vec value) { return select(x <= Vec(limit), Vec(0.0f), value); }

[[gnu::noinline]] Vec exp_of_negative(Vec x) { return ExpOfDifference()(x); }

// σ(v), and its derivative, which 1 - σ would lose to cancellation.
struct Sigmoid {
  Vec value, slope;
};
[[gnu::noinline]] Sigmoid sigmoid_of(Vec v) {
  const Vec small = ExpOfDifference()(-abs(v)), inverse = divide(Vec(1.0f), Vec(1.0f) + small);
  return {select(v < Vec(0.0f), small, Vec(1.0f)) * inverse, small * inverse * inverse};
}

// Of x·σ(v(x)).
Vec gated_slope(Vec x, Vec v, Vec dv) {
  const Sigmoid gate = sigmoid_of(v);
  return multiply_add(x * gate.slope, dv, gate.value);
}

// Clamped, so that ±inf · 0 is no NaN: beyond, the slope is 0 or 1.
[[gnu::noinline]] Vec gelu_slope(Vec x) {
  constexpr float kInverseRootTwo = 0.70710678118654752f, kDensity = 0.39894228040143268f;
  constexpr float kFlat = 15.0f;
  x = clamp(x, kFlat);
  const Vec cdf = Vec(0.5f) * (Vec(1.0f) + Erf()(x * Vec(kInverseRootTwo)));
  const Vec slope = multiply_add(x * Vec(kDensity), ExpOfDifference()(Vec(-0.5f) * x * x), cdf);
  return where_above(x, -kFlat, slope);
}

}  // namespace

void relu_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) { return where_above(v, 0.0f, Vec(1.0f)); });
}

void silu_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    v = clamp(v, 104.0f);
    return gated_slope(v, v, Vec(1.0f));
  });
}

void gelu_erf_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, gelu_slope);
}

void gelu_tanh_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    constexpr float kRoot = 1.5957691216057308f, kCubic = 0.044715f;  // 2 · sqrt(2 / pi)
    v = clamp(v, 15.0f);
    const Vec square = v * v, root(kRoot);
    return gated_slope(v, root * multiply_add(Vec(kCubic) * square, v, v),
                       root * multiply_add(Vec(3.0f * kCubic), square, Vec(1.0f)));
  });
}

void quick_gelu_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    const Vec slope(1.702f);
    v = clamp(v, 64.0f);
    return gated_slope(v, slope * v, slope);
  });
}

void tanh_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) { return Vec(4.0f) * sigmoid_of(v + v).slope; });
}

void sigmoid_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) { return sigmoid_of(v).slope; });
}

void softplus_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) { return sigmoid_of(v).value; });
}

void sqrt_softplus_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    const Vec softplus =
        select(v < Vec(0.0f), Vec(0.0f), v) + log_of_one_plus(exp_of_negative(-abs(v)));
    return where_above(softplus, 0.0f,
                       divide(Vec(0.5f) * sigmoid_of(v).value, square_root(softplus)));
  });
}

void erf_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count,
              [](Vec v) { return Vec(1.1283791670955126f) * exp_of_negative(-v * v); });
}

void laplace_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    constexpr float kMean = 0.707107f, kDeviation = 0.398942572f;  // as in laplace()
    const Vec z = divide(v - Vec(kMean), Vec(kDeviation));
    return Vec(0.56418958354775629f / kDeviation) * exp_of_negative(-z * z);
  });
}

void mish_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    // with n = e·(e + 2): t = n / (n + 2) and 1 - t² = 4 (n + 1) / (n + 2)²
    v = clamp(v, 104.0f);
    const Vec e = exp_of_negative(select(v > Vec(20.0f), Vec(20.0f), v)), n = e * (e + Vec(2.0f));
    const Vec inverse = divide(Vec(1.0f), n + Vec(2.0f));
    const Vec slope = Vec(4.0f) * (n + Vec(1.0f)) * inverse * inverse;
    return multiply_add(v * slope, sigmoid_of(v).value, n * inverse);
  });
}

void relu_squared_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) { return where_above(v, 0.0f, v + v); });
}

void relu6_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    return where_above(v, 0.0f, select(v < Vec(6.0f), Vec(1.0f), Vec(0.0f)));
  });
}

void leaky_relu_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) { return select(v > Vec(0.0f), Vec(1.0f), Vec(0.01f)); });
}

void hard_swish_derivative(const float* x, float* d, std::size_t count) {
  multiply_by(x, d, count, [](Vec v) {
    const Vec share = divide(v, Vec(3.0f)) + Vec(0.5f);
    return where_above(v, -3.0f, select(v < Vec(3.0f), share, Vec(1.0f)));
  });
}

void clipped_gelu_derivative(const float* x, float* d, std::size_t count) {
  // gelu_erf(x) is x there
  multiply_by(x, d, count, [](Vec v) { return select(v > Vec(10.0f), Vec(0.0f), gelu_slope(v)); });
}

void softcap_derivative(const float* y, float cap, float* d, std::size_t count) {
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  const Vec limit(cap), hidden(kMinusInfinity);
  transform(y, d, d, count, [limit, hidden](Vec score, Vec by) {
    const Vec share = divide(score, limit);
    return select(score == hidden, Vec(0.0f), by * (Vec(1.0f) - share * share));
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
