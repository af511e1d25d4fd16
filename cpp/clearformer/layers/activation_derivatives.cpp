#include "clearformer/kernels/activation_derivatives.h"

#include "clearformer/layers/feed_forward.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

// Null: 1.
void (*derivative_of(Activation activation))(const float* x, float* d, std::size_t count) {
  switch (activation) {
    case Activation::relu: return kernels::relu_derivative;
    case Activation::silu: return kernels::silu_derivative;
    case Activation::gelu_erf: return kernels::gelu_erf_derivative;
    case Activation::gelu_tanh: return kernels::gelu_tanh_derivative;
    case Activation::quick_gelu: return kernels::quick_gelu_derivative;
    case Activation::tanh: return kernels::tanh_derivative;
    case Activation::linear: return nullptr;
    case Activation::sigmoid: return kernels::sigmoid_derivative;
    case Activation::softplus: return kernels::softplus_derivative;
    case Activation::sqrt_softplus: return kernels::sqrt_softplus_derivative;
    case Activation::erf: return kernels::erf_derivative;
    case Activation::laplace: return kernels::laplace_derivative;
    case Activation::mish: return kernels::mish_derivative;
    case Activation::relu_squared: return kernels::relu_squared_derivative;
    case Activation::relu6: return kernels::relu6_derivative;
    case Activation::leaky_relu: return kernels::leaky_relu_derivative;
    case Activation::hard_swish: return kernels::hard_swish_derivative;
    case Activation::clipped_gelu: return kernels::clipped_gelu_derivative;
  }
  return nullptr;
}

}  // namespace

void apply_derivative(Activation activation, const float* x, float* d, std::size_t count) {
  constexpr std::size_t kWork = 24, kRun = 64;  // ranges are whole registers
  const auto kernel = derivative_of(activation);
  if (kernel == nullptr) return;
  parallel_ranges(count, kWork, kRun, [&](std::size_t first, std::size_t end) {
    kernel(x + first, d + first, end - first);
  });
}

}  // namespace clearformer
