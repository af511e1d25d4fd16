// The activation functions of feed-forward layers, elementwise; in and out may be the same array.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// max(x, 0)
CLEARFORMER_KERNEL(void, relu, const float* in, float* out, std::size_t count)
/// x / (1 + exp(-x)), also called swish; -inf gives its limit 0
CLEARFORMER_KERNEL(void, silu, const float* in, float* out, std::size_t count)
/// x · Φ(x) = x/2 · (1 + erf(x / √2)); -inf gives its limit 0
CLEARFORMER_KERNEL(void, gelu_erf, const float* in, float* out, std::size_t count)
/// x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))), the approximation of GPT-2; -inf gives 0
CLEARFORMER_KERNEL(void, gelu_tanh, const float* in, float* out, std::size_t count)
/// x · sigmoid(1.702 x), the approximation of CLIP; -inf gives 0
CLEARFORMER_KERNEL(void, quick_gelu, const float* in, float* out, std::size_t count)
/// tanh(x)
CLEARFORMER_KERNEL(void, hyperbolic_tangent, const float* in, float* out, std::size_t count)
/// cap · tanh(x / cap): keeps scores within ±cap; in place
CLEARFORMER_KERNEL(void, softcap, float* x, float cap, std::size_t count)

}  // namespace clearformer::kernels
