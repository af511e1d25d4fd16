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

// Columns first … first + W of x (rows, outputs) next to each other, zeros past the last.
void copy_columns(const float* x, std::size_t outputs, std::size_t first, std::size_t rows,
                  float* to) {
  const std::size_t width = panel_width(), filled = std::min(width, outputs - first);
  for (std::size_t row = 0; row < rows; ++row, to += width) {
    std::copy_n(x + row * outputs + first, filled, to);
    std::fill_n(to + filled, width - filled, 0.0f);
  }
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

// Panel p is the product of xᵀ (K, rows) and W columns of dy, which are copied next to each other. A task takes a group
// of panels, for some rows of xᵀ after the others: those are read from a near cache for all panels but the first.
void PanelGradient::add_outer(const float* dy, const float* x, std::size_t rows, Arena& arena) {
  constexpr std::size_t kGroup = 8, kInputs = 96;
  const std::size_t width = panel_width(), panels = panels_.dim(0), most = std::min(rows, kRows);
  const std::size_t workers = num_threads(), shared = (panels + workers - 1) / workers;
  const std::size_t group = std::clamp<std::size_t>(shared, 1, kGroup);  // 1: without outputs
  const Arena::Frame frame(arena);
  float* const turned = arena.take({inputs_, most}).f32();
  float* const memory = arena.take({workers, group, most, width}).f32();
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t count = std::min(kRows, rows - first);
    transpose_shared(x + first * inputs_, turned, count, inputs_);
    const auto add_panel = [&](std::size_t panel, const float* columns, std::size_t k) {
      float* const sums = panels_.f32() + (panel * inputs_ + k) * width;
      MatmulArgs args{{sums, width, std::min(kInputs, inputs_ - k), width, count, {}}};
      args.epilogue.residual = zero_ ? nullptr : sums;  // zeros need not be read
      args.epilogue.residual_stride = width;
      args.a = turned + k * count;
      args.a_stride = args.panel_stride = count;
      args.b = columns;
      matmul(args);
    };
    const auto add_group = [&](std::size_t task, std::size_t worker) {
      float* const columns = memory + worker * group * most * width;
      const std::size_t begin = task * group, some = std::min(group, panels - begin);
      for (std::size_t i = 0; i < some; ++i) {
        copy_columns(dy + first * outputs_, outputs_, (begin + i) * width, count,
                     columns + i * count * width);
      }
      for (std::size_t k = 0; k < inputs_; k += kInputs) {
        for (std::size_t i = 0; i < some; ++i) {
          add_panel(begin + i, columns + i * count * width, k);
        }
      }
    };
    parallel_ranges((panels + group - 1) / group, count * inputs_ * width * group, 1, workers,
                    [&](std::size_t task, std::size_t end, std::size_t worker) {
                      for (; task < end; ++task) add_group(task, worker);
                    });
    zero_ = false;
  }
}

}  // namespace clearformer::kernels
