// The activation functions of feed-forward layers, elementwise; in and out may be the same array. NaN propagates.
// The common functions have a loop of their own; the rare ones share one that calls through a pointer.
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
/// 1 / (1 + exp(-x))
CLEARFORMER_KERNEL(void, sigmoid, const float* in, float* out, std::size_t count)
/// ln(1 + exp(x)), computed as max(x, 0) + ln(1 + exp(-|x|)) without overflow or cancellation
CLEARFORMER_KERNEL(void, softplus, const float* in, float* out, std::size_t count)
/// √(ln(1 + exp(x)))
CLEARFORMER_KERNEL(void, sqrt_softplus, const float* in, float* out, std::size_t count)
/// 2/√π ∫₀ˣ exp(-t²) dt
CLEARFORMER_KERNEL(void, error_function, const float* in, float* out, std::size_t count)
/// (1 + erf((x - μ) / (σ √2))) / 2 with μ = 0.707107, σ = 0.282095 (Ma et al. 2022, arXiv 2209.10655)
CLEARFORMER_KERNEL(void, laplace, const float* in, float* out, std::size_t count)
/// x · tanh(ln(1 + exp(x))); -inf gives 0 (Misra 2019, arXiv 1908.08681)
CLEARFORMER_KERNEL(void, mish, const float* in, float* out, std::size_t count)
/// max(x, 0)² (So et al. 2021, arXiv 2109.08668)
CLEARFORMER_KERNEL(void, relu_squared, const float* in, float* out, std::size_t count)
/// x clamped to 0 … 6
CLEARFORMER_KERNEL(void, relu6, const float* in, float* out, std::size_t count)
/// x, or x / 100 below 0
CLEARFORMER_KERNEL(void, leaky_relu, const float* in, float* out, std::size_t count)
/// x · relu6(x + 3) / 6; -inf gives 0 (Howard et al. 2019, arXiv 1905.02244)
CLEARFORMER_KERNEL(void, hard_swish, const float* in, float* out, std::size_t count)
/// gelu_erf(x), at most 10
CLEARFORMER_KERNEL(void, clipped_gelu, const float* in, float* out, std::size_t count)
/// cap · tanh(x / cap): keeps scores within ±cap; in place
CLEARFORMER_KERNEL(void, softcap, float* x, float cap, std::size_t count)

}  // namespace clearformer::kernels
