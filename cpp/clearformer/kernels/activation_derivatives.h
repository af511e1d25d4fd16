// Derivatives of the activation functions (activations.h): d[i] = d[i] · act'(x[i]), with x the input of the activation.
// At kinks it is torch's: relu'(0) = 0. Where the function vanishes or is saturated in float32 the derivative is 0. NaN
// propagates, except through slopes that are constants.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// 1 where x > 0, else 0
CLEARFORMER_KERNEL(void, relu_derivative, const float* x, float* d, std::size_t count)
/// σ(x) + x·σ(x)·(1 - σ(x))
CLEARFORMER_KERNEL(void, silu_derivative, const float* x, float* d, std::size_t count)
/// Φ(x) + x·φ(x)
CLEARFORMER_KERNEL(void, gelu_erf_derivative, const float* x, float* d, std::size_t count)
/// σ(v) + x·σ(v)·(1 - σ(v))·v' with v = 2·√(2/π)·(x + 0.044715 x³), since (1 + tanh(v/2)) / 2 = σ(v)
CLEARFORMER_KERNEL(void, gelu_tanh_derivative, const float* x, float* d, std::size_t count)
/// The same with v = 1.702 x
CLEARFORMER_KERNEL(void, quick_gelu_derivative, const float* x, float* d, std::size_t count)
/// 1 - tanh²(x)
CLEARFORMER_KERNEL(void, tanh_derivative, const float* x, float* d, std::size_t count)
/// σ(x)·(1 - σ(x))
CLEARFORMER_KERNEL(void, sigmoid_derivative, const float* x, float* d, std::size_t count)
/// σ(x)
CLEARFORMER_KERNEL(void, softplus_derivative, const float* x, float* d, std::size_t count)
/// σ(x) / (2·√(ln(1 + exp(x))))
CLEARFORMER_KERNEL(void, sqrt_softplus_derivative, const float* x, float* d, std::size_t count)
/// 2/√π · exp(-x²)
CLEARFORMER_KERNEL(void, erf_derivative, const float* x, float* d, std::size_t count)
/// exp(-(x - μ)² / (2σ²)) / (σ·√(2π)), μ and σ as in laplace()
CLEARFORMER_KERNEL(void, laplace_derivative, const float* x, float* d, std::size_t count)
/// t + x·(1 - t²)·σ(x) with t = tanh(ln(1 + exp(x)))
CLEARFORMER_KERNEL(void, mish_derivative, const float* x, float* d, std::size_t count)
/// 2·max(x, 0)
CLEARFORMER_KERNEL(void, relu_squared_derivative, const float* x, float* d, std::size_t count)
/// 1 where 0 < x < 6, else 0
CLEARFORMER_KERNEL(void, relu6_derivative, const float* x, float* d, std::size_t count)
/// 1 where x > 0, else 0.01
CLEARFORMER_KERNEL(void, leaky_relu_derivative, const float* x, float* d, std::size_t count)
/// 0 up to -3, x/3 + 1/2 between, 1 from 3
CLEARFORMER_KERNEL(void, hard_swish_derivative, const float* x, float* d, std::size_t count)
/// gelu_erf' where gelu_erf(x) <= 10, else 0
CLEARFORMER_KERNEL(void, clipped_gelu_derivative, const float* x, float* d, std::size_t count)
/// 1 - (y / cap)², from the capped score y; hidden ones, -inf, give 0
CLEARFORMER_KERNEL(void, softcap_derivative, const float* y, float cap, float* d, std::size_t count)

}  // namespace clearformer::kernels
