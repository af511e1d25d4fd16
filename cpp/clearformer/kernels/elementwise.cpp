#include "clearformer/kernels/elementwise.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void add(const float* a, const float* b, float* out, std::size_t count) {
  transform(a, b, out, count, [](Vec x, Vec y) { return x + y; });
}

void multiply(const float* a, const float* b, float* out, std::size_t count) {
  transform(a, b, out, count, [](Vec x, Vec y) { return x * y; });
}

void scale(float* x, float factor, std::size_t count) {
  const Vec by(factor);
  transform(x, x, count, [by](Vec value) { return value * by; });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
