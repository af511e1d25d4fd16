#include "clearformer/layers/position_filters.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/short_convolution.h"
#include "clearformer/layers/weight_gradients.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

void set_row(float* to, const Tensor& value, std::size_t width) {
  if (value.empty()) {
    std::memset(to, 0, width * sizeof(float));
  } else {
    std::memcpy(to, value.f32(), width * sizeof(float));
  }
}

// x (B, T, D) before some rows of zeros.
MutableTensorView before_zeros(const TensorView& x, std::size_t zeros, Arena& arena) {
  const std::size_t length = x.dim(1), width = x.dim(2);
  const MutableTensorView rows = arena.take({x.dim(0), length + zeros, width});
  for (std::size_t sequence = 0; sequence < x.dim(0); ++sequence) {
    float* const to = rows.f32() + sequence * (length + zeros) * width;
    std::memcpy(to, x.f32() + sequence * length * width, length * width * sizeof(float));
    std::memset(to + length * width, 0, zeros * width * sizeof(float));
  }
  return rows;
}

}  // namespace

void fill_padded(const MutableTensorView& x, const TensorView* padding, const Tensor& value) {
  if (padding == nullptr) return;
  const std::size_t length = x.dim(1), all = padding->dim(1), width = x.dim(2);
  for (std::size_t row = 0; row < x.dim(0) * length; ++row) {
    const std::size_t at = row / length * all + all - length + row % length;
    if (padding->as<std::uint8_t>()[at] != 0) continue;
    set_row(x.f32() + row * width, value, width);
  }
}

MutableTensorView filter_rows(const Tensor& weight, bool turned, Arena& arena) {
  const std::size_t width = weight.dim(0), count = weight.dim(2);
  const MutableTensorView rows = arena.take({count, width});
  for (std::size_t i = 0; i < width * count; ++i) {
    const std::size_t tap = turned ? count - 1 - i % count : i % count;
    rows.f32()[tap * width + i / count] = weight.f32()[i];
  }
  return rows;
}

void convolve(const TensorView& window, const MutableTensorView& filters, const Tensor& bias,
              const MutableTensorView& out) {
  const std::size_t length = out.dim(1), width = out.dim(2), count = filters.dim(0);
  parallel_ranges(
      out.dim(0) * length, 4 * count * width, 1, [&](std::size_t first, std::size_t end) {
        for (std::size_t row = first; row < end; ++row) {
          float* const to = out.f32() + row * width;
          set_row(to, bias, width);
          kernels::short_convolution(window.f32() + (row + row / length * (count - 1)) * width,
                                     filters.f32(), count, width, to);
        }
      });
}

void multiply_all(const TensorView& a, const TensorView& b, const MutableTensorView& out) {
  constexpr std::size_t kWork = 4, kLanes = 64;  // cost of a product; ranges of whole registers
  parallel_ranges(out.elements(), kWork, kLanes, [&](std::size_t first, std::size_t end) {
    kernels::multiply(a.f32() + first, b.f32() + first, out.f32() + first, end - first);
  });
}

void convolve_back(const TensorView& window, const Tensor& weight, const Tensor& bias,
                   const TensorView& dy, const MutableTensorView& dx, const Context& context) {
  const Arena::Frame frame(context.arena);
  const std::size_t count = weight.dim(2), length = dy.dim(1), width = dy.dim(2);
  convolve(before_zeros(dy, count - 1, context.arena), filter_rows(weight, true, context.arena), {},
           dx);
  const WeightGradients* const weights = context.trace.weights();
  if (weights == nullptr) return;
  float *const sums = weights->of(weight), *const bias_sums = weights->of(bias);
  const MutableTensorView sum = context.arena.take({width});
  for (std::size_t sequence = 0; sequence < dy.dim(0); ++sequence) {
    const float* const d = dy.f32() + sequence * length * width;
    const float* const in = window.f32() + sequence * (count - 1 + length) * width;
    for (std::size_t tap = 0; sums != nullptr && tap < count; ++tap) {
      std::memset(sum.data(), 0, sum.bytes());
      add_sum_of_rows(d, in + tap * width, length, width, sum.f32());
      for (std::size_t i = 0; i < width; ++i) sums[i * count + tap] += sum.f32()[i];
    }
    if (bias_sums != nullptr) add_sum_of_rows(d, nullptr, length, width, bias_sums);
  }
}

void project_back(const Linear& layer, const TensorView& x, const TensorView* padding,
                  const MutableTensorView& d, const MutableTensorView& dx, Write write,
                  const Context& context) {
  const WeightGradients* const weights = context.trace.weights();
  layer.bias_backward(d, weights);
  fill_padded(d, padding, {});
  layer.multiply_backward(x, d, dx, write, weights, context.arena);
}

}  // namespace clearformer
