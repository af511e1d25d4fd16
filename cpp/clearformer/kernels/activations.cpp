#include "clearformer/kernels/activations.h"

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {
// Below these, GELU (both forms) and SiLU round to -0; x · 0 and x / inf would give NaN for -inf.
constexpr float kGeluVanishes = -15.0f;
constexpr float kSiluVanishes = -104.0f;
constexpr float kHalf = 0.5f, kOne = 1.0f;

// x/2 · (1 + of_normal), the erf or tanh whose half, and a half, are the distribution function of the normal distribution.
class Gelu {
 public:
  Vec operator()(Vec x, Vec of_normal) const {
    return select(x < vanishes_, Vec(0.0f), half_ * x * (one_ + of_normal));
  }

 private:
  Vec vanishes_ = constant(kGeluVanishes), half_ = constant(kHalf), one_ = constant(kOne);
};

// x / (1 + e^-y) with y = factor · x
CLEARFORMER_LOOP void multiply_by_sigmoid(const float* in, float* out, std::size_t count,
                                          float factor) {
  const Exp exp;
  const Vec by(factor), vanishes = constant(kSiluVanishes), one = constant(kOne);
  transform(in, out, count, [=](Vec x) {
    const Vec y = by * x;
    return select(y < vanishes, Vec(0.0f), divide(x, one + exp(-y)));
  });
}

// The loop of rarely used functions: small code matters there, not the indirect call per register.
CLEARFORMER_LOOP void transform_by(const float* in, float* out, std::size_t count,
                                   Vec (*apply)(Vec)) {
  transform(in, out, count, apply);
}

Vec at_most(Vec x, float limit) { return select(x > Vec(limit), Vec(limit), x); }
Vec at_least_zero(Vec x) { return select(x < Vec(0.0f), Vec(0.0f), x); }

// erf, within ±1, and exactly that where float32 rounds to it: the approximation is one ulp off there.
[[gnu::noinline]] Vec erf_of(Vec x) {
  constexpr float kEnd = 3.92f;
  const Vec y = select(x > Vec(kEnd), Vec(1.0f), Erf()(x));
  return clamp(select(x < Vec(-kEnd), Vec(-1.0f), y), 1.0f);
}

[[gnu::noinline]] Vec power_of(Vec x) { return ExpOfDifference()(x); }

[[gnu::noinline]] Vec softplus_of(Vec x) {
  const Vec small = power_of(-abs(x));
  return at_least_zero(x) + log_of_one_plus(small);
}
}  // namespace

void relu(const float* in, float* out, std::size_t count) {
  transform(in, out, count, [](Vec x) {  // NaN propagates
    return select(x < Vec(0.0f), Vec(0.0f), x);
  });
}

void silu(const float* in, float* out, std::size_t count) {
  multiply_by_sigmoid(in, out, count, 1.0f);
}

void quick_gelu(const float* in, float* out, std::size_t count) {
  multiply_by_sigmoid(in, out, count, 1.702f);
}

CLEARFORMER_LOOP void gelu_erf(const float* in, float* out, std::size_t count) {
  static constexpr float kInverseRootTwo = 0.70710678118654752f;
  const Gelu gelu;
  const Erf erf;
  const Vec inverse_root_two = constant(kInverseRootTwo);
  transform(in, out, count, [=](Vec x) { return gelu(x, erf(x * inverse_root_two)); });
}

void gelu_tanh(const float* in, float* out, std::size_t count) {
  static constexpr float kRoot = 0.79788456080286536f;  // sqrt(2 / pi)
  static constexpr float kCubic = 0.044715f;
  const Gelu gelu;
  const Tanh tanh;
  const Vec root = constant(kRoot), cubic = constant(kCubic);
  transform(in, out, count, [=](Vec x) { return gelu(x, tanh(root * (x + cubic * x * x * x))); });
}

void hyperbolic_tangent(const float* in, float* out, std::size_t count) {
  transform(in, out, count, Tanh());
}

void sigmoid(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) {
    const Vec small = power_of(-abs(x));  // exponent <= 0: no overflow
    return divide(select(x < Vec(0.0f), small, Vec(1.0f)), Vec(1.0f) + small);
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
    return select(x < Vec(kSiluVanishes), Vec(0.0f), x * divide(square, square + Vec(2.0f)));
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
  transform_by(in, out, count, [](Vec x) { return select(x < Vec(0.0f), x * Vec(0.01f), x); });
}

void hard_swish(const float* in, float* out, std::size_t count) {
  transform_by(in, out, count, [](Vec x) {
    const Vec share = divide(at_most(x + Vec(3.0f), 6.0f), Vec(6.0f));
    return select(x < Vec(-3.0f), Vec(0.0f), x * share);
  });
}

void clipped_gelu(const float* in, float* out, std::size_t count) {
  gelu_erf(in, out, count);
  transform_by(out, out, count, [](Vec x) { return at_most(x, 10.0f); });
}

void softcap(float* x, float cap, std::size_t count) {
  const Vec limit(cap);
  const Tanh tanh;
  transform(x, x, count, [=](Vec score) { return limit * tanh(divide(score, limit)); });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
