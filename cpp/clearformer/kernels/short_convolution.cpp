#include "clearformer/kernels/short_convolution.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void short_convolution(const float* x, const ShortFilters& filters, std::size_t rows, float* out) {
  const std::size_t width = filters.width;
  for (const float* const end = x + rows * width; x < end; x += width, out += width) {
    for_each(width, [&](std::size_t channel, auto lanes) {
      Vec sum = filters.bias == nullptr ? Vec(0.0f) : load(filters.bias + channel, lanes);
      for (std::size_t at = channel; at < filters.taps * width; at += width) {
        sum = multiply_add(load(filters.weights + at, lanes), load(x + at, lanes), sum);
      }
      store(out + channel, lanes, sum);
    });
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
