// The backward pass of softmax: the pattern again from saved maxima and sums, and its vector-Jacobian product.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// scores[i] = exp(scores[i] - highest) · inverse, a row of softmax whose maximum and 1 / sum are known; -inf gives 0.
CLEARFORMER_KERNEL(void, resume_softmax, float* scores, float highest, float inverse,
                   std::size_t count)

/// d[i] = p[i] · (d[i] - shift): with shift = Σ p·d, the gradient of a row of scores from the one of its pattern p.
CLEARFORMER_KERNEL(void, softmax_derivative, const float* p, float shift, float* d,
                   std::size_t count)

/// Σ a[i] · b[i], accumulated in double.
CLEARFORMER_KERNEL(double, dot_of, const float* a, const float* b, std::size_t count)

}  // namespace clearformer::kernels
