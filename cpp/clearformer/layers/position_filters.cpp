#include "clearformer/layers/position_filters.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/short_convolution.h"
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

}  // namespace clearformer
