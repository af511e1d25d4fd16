#include "clearformer/kernels/activations.h"

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {
// Below these, GELU (both forms) and SiLU round to -0; x · 0 and x / inf would give NaN for -inf.
constexpr float kGeluVanishes = -15.0f;
constexpr float kSiluVanishes = -104.0f;

inline Vec gelu(Vec x, Vec twice_cdf) {
  return xsimd::select(x < Vec(kGeluVanishes), Vec(0.0f), Vec(0.5f) * x * twice_cdf);
}

// The loop of rarely used functions: small code matters there, not the indirect call per register.
CLEARFORMER_LOOP void transform_by(const float* in, float* out, std::size_t count,
                                   Vec (*apply)(Vec)) {
  transform(in, out, count, apply);
}

Vec at_most(Vec x, float limit) { return xsimd::select(x > Vec(limit), Vec(limit), x); }
Vec at_least_zero(Vec x) { return xsimd::select(x < Vec(0.0f), Vec(0.0f), x); }

// erf, with exactly ±1 where float32 rounds to it: the approximation is one ulp off there.
[[gnu::noinline]] Vec erf_of(Vec x) {
  constexpr float kOne = 3.92f;
  const Vec y = xsimd::select(x > Vec(kOne), Vec(1.0f), erf(x));
  return xsimd::select(x < Vec(-kOne), Vec(-1.0f), y);
}

[[gnu::noinline]] Vec power_of(Vec x) { return exp_of_difference(x); }

[[gnu::noinline]] Vec softplus_of(Vec x) {
  const Vec small = power_of(-xsimd::abs(x));
  return at_least_zero(x) + log_of_one_plus(small);
}
}  // namespace

void relu(const float* in, float* out, std::size_t count) {
  transform(in, out, count, [](Vec x) {  // NaN propagates
    return xsimd::select(x < Vec(0.0f), Vec(0.0f), x);
  });
}

void silu(const float* in, float* out, std::size_t count) {
  transform(in, out, count, [](Vec x) {
    return xsimd::select(x < Vec(kSiluVanishes), Vec(0.0f), divide(x, Vec(1.0f) + exp(-x)));
  });
}

void quick_gelu(const float* in, float* out, std::size_t count) {
  const Vec slope(1.702f);
  transform(in, out, count, [slope](Vec x) {
    const Vec scaled = slope * x;
    return xsimd::select(scaled < Vec(kSiluVanishes), Vec(0.0f),
                         divide(x, Vec(1.0f) + exp(-scaled)));
  });
}

CLEARFORMER_LOOP void gelu_erf(const float* in, float* out, std::size_t count) {
  const Vec inverse_root_two(0.70710678118654752f);
  transform(in, out, count,
            [inverse_root_two](Vec x) { return gelu(x, Vec(1.0f) + erf(x * inverse_root_two)); });
}

void gelu_tanh(const float* in, float* out, std::size_t count) {
  const Vec root(0.79788456080286536f);  // sqrt(2 / pi)
  const Vec cubic(0.044715f);
  transform(in, out, count, [root, cubic](Vec x) {
    const Vec inner = root * (x + cubic * x * x * x);
    return gelu(x, Vec(1.0f) + tanh(inner));
  });
}

void hyperbolic_tangent(const float* in, float* out, std::size_t count) {
  transform(in, out, count, [](Vec x) { return tanh(x); });
}

void sigmoid(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) {
    const Vec small = power_of(-xsimd::abs(x));  // exponent <= 0: no overflow
    return divide(xsimd::select(x < Vec(0.0f), small, Vec(1.0f)), Vec(1.0f) + small);
  });
}

void softplus(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, softplus_of);
}

void sqrt_softplus(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) { return square_root(softplus_of(x)); });
}

void error_function(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, erf_of);
}

void laplace(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) {
    constexpr float kMean = 0.707107f, kDeviation = 0.398942572f;  // 0.282095 · √2
    return Vec(0.5f) * (Vec(1.0f) + erf_of(divide(x - Vec(kMean), Vec(kDeviation))));
  });
}

void mish(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) {
    // tanh(ln(1 + e)) = ((1 + e)² - 1) / ((1 + e)² + 1); above 20 it rounds to 1
    const Vec e = power_of(at_most(x, 20.0f));
    const Vec square = e * (e + Vec(2.0f));
    return xsimd::select(x < Vec(kSiluVanishes), Vec(0.0f), x * divide(square, square + Vec(2.0f)));
  });
}

void relu_squared(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) {
    x = at_least_zero(x);
    return x * x;
  });
}

void relu6(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) { return at_most(at_least_zero(x), 6.0f); });
}

void leaky_relu(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count,
               [](Vec x) { return xsimd::select(x < Vec(0.0f), x * Vec(0.01f), x); });
}

void hard_swish(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) {
    const Vec share = divide(at_most(x + Vec(3.0f), 6.0f), Vec(6.0f));
    return xsimd::select(x < Vec(-3.0f), Vec(0.0f), x * share);
  });
}

void clipped_gelu(const float* in, float* out, std::size_t count) {
  gelu_erf(in, out, count);
  transform_by(out, out, count, [](Vec x) { return at_most(x, 10.0f); });
}

void softcap(float* x, float cap, std::size_t count) {
  const Vec limit(cap);
  transform(x, x, count, [limit](Vec score) { return limit * tanh(divide(score, limit)); });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
