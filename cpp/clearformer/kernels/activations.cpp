#include "clearformer/kernels/activations.h"

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {
// Below these GELU (both forms) and SiLU round to -0; x · 0 and x / inf would turn -inf into NaN.
constexpr float kGeluVanishes = -15.0f;
constexpr float kSiluVanishes = -104.0f;

inline Vec gelu(Vec x, Vec twice_cdf) {
  return xsimd::select(x < Vec(kGeluVanishes), Vec(0.0f), Vec(0.5f) * x * twice_cdf);
}
}  // namespace

void relu(const float* in, float* out, std::size_t count) {
  transform(in, out, count, [](Vec x) {  // a NaN stays
    return xsimd::select(x < Vec(0.0f), Vec(0.0f), x);
  });
}

void silu(const float* in, float* out, std::size_t count) {
  transform(in, out, count, [](Vec x) {
    return xsimd::select(x < Vec(kSiluVanishes), Vec(0.0f), x / (Vec(1.0f) + exp(-x)));
  });
}

void quick_gelu(const float* in, float* out, std::size_t count) {
  const Vec slope(1.702f);
  transform(in, out, count, [slope](Vec x) {
    const Vec scaled = slope * x;
    return xsimd::select(scaled < Vec(kSiluVanishes), Vec(0.0f), x / (Vec(1.0f) + exp(-scaled)));
  });
}

void gelu_erf(const float* in, float* out, std::size_t count) {
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

void softcap(float* x, float cap, std::size_t count) {
  const Vec limit(cap);
  transform(x, x, count, [limit](Vec score) { return limit * tanh(score / limit); });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
