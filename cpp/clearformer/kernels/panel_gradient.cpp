#include "clearformer/kernels/panel_gradient.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/transpose.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer::kernels {

namespace {

// (rows, columns) -> (columns, rows); a task takes some columns.
void transpose_shared(const float* from, float* to, std::size_t rows, std::size_t columns) {
  parallel_ranges(columns, rows, 16, [&](std::size_t first, std::size_t end) {
    transpose(from + first, columns, rows, end - first, to + first * rows, rows);
  });
}

}  // namespace

PanelGradient::PanelGradient(std::size_t outputs, std::size_t inputs)
    : outputs_(outputs),
      inputs_(inputs),
      panels_(Tensor::zeros({padded(outputs) / panel_width(), inputs, panel_width()})) {}

void PanelGradient::copy_row(std::size_t output, float* to) const {
  const std::size_t width = panel_width();
  const float* from = panels_.f32() + output / width * width * inputs_ + output % width;
  for (std::size_t k = 0; k < inputs_; ++k) to[k] = from[k * width];
}

void PanelGradient::set_row(std::size_t output, const float* row) {
  const std::size_t width = panel_width();
  zero_ = false;
  float* to = panels_.f32() + output / width * width * inputs_ + output % width;
  for (std::size_t k = 0; k < inputs_; ++k) to[k * width] = row[k];
}

void PanelGradient::add_to_row(std::size_t output, const float* row, std::size_t first,
                               std::size_t end) {
  const std::size_t width = panel_width();
  zero_ = false;
  float* to = panels_.f32() + output / width * width * inputs_ + output % width;
  for (std::size_t k = first; k < end; ++k) to[k * width] += row[k - first];
}

void PanelGradient::clear() {
  if (!zero_) std::memset(panels_.data(), 0, bytes());
  zero_ = true;
}

std::size_t PanelGradient::padded(std::size_t outputs) {
  const std::size_t width = panel_width();
  return (outputs + width - 1) / width * width;
}

// Panel p is the product of xᵀ (K, rows) and W columns of dy, which are copied next to each other.
void PanelGradient::add_outer(const float* dy, const float* x, std::size_t rows, Arena& arena) {
  const std::size_t width = panel_width(), most = std::min(rows, kRows);
  const Arena::Frame frame(arena);
  float* turned = arena.take({inputs_, most}).f32();
  float* columns = arena.take({num_threads(), most, width}).f32();
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t count = std::min(kRows, rows - first);
    transpose_shared(x + first * inputs_, turned, count, inputs_);
    const auto add_panel = [&](std::size_t panel, std::size_t worker) {
      const std::size_t filled = std::min(width, outputs_ - panel * width);
      float* own = columns + worker * most * width;
      for (std::size_t row = 0; row < count; ++row) {
        const float* from = dy + (first + row) * outputs_ + panel * width;
        std::copy_n(from, filled, own + row * width);
        std::fill_n(own + row * width + filled, width - filled, 0.0f);
      }
      float* sums = panels_.f32() + panel * width * inputs_;
      MatmulArgs args{{sums, width, inputs_, width, count, {}}};
      args.epilogue.residual = zero_ ? nullptr : sums;  // zeros need not be read
      args.epilogue.residual_stride = width;
      args.a = turned;
      args.a_stride = args.panel_stride = count;
      args.b = own;
      matmul(args);
    };
    parallel_ranges(panels_.dim(0), count * inputs_ * width, 1,
                    [&](std::size_t panel, std::size_t end, std::size_t worker) {
                      for (; panel < end; ++panel) add_panel(panel, worker);
                    });
    zero_ = false;
  }
}

}  // namespace clearformer::kernels
