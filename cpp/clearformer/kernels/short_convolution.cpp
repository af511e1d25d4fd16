#include "clearformer/kernels/short_convolution.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void short_convolution(const float* x, const float* weights, std::size_t taps, std::size_t width,
                       float* out) {
  for_each(width, [=](std::size_t channel, auto lanes) {
    Vec sum = load(out + channel, lanes);
    for (std::size_t at = channel; at < taps * width; at += width) {
      sum = multiply_add(load(weights + at, lanes), load(x + at, lanes), sum);
    }
    store(out + channel, lanes, sum);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
