#include "clearformer/layers/position_interpolation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace clearformer {

namespace {

// The four inputs of one output along an axis, with their weights.
struct Taps {
  std::size_t at[4];
  double weight[4];
};

// Cubic convolution kernel: 1 at distance 0, 0 at 1 and 2, smooth between.
double cubic(double distance) {
  constexpr double kA = -0.75;
  const double x = std::abs(distance);
  if (x <= 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
  if (x < 2.0) return ((x - 5.0) * x + 8.0) * kA * x - 4.0 * kA;
  return 0.0;
}

std::vector<Taps> taps_of(std::size_t from, std::size_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const auto last = static_cast<std::ptrdiff_t>(from) - 1;
  std::vector<Taps> all(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale - 0.5;
    const auto first = static_cast<std::ptrdiff_t>(std::floor(center)) - 1;
    for (std::ptrdiff_t tap = 0; tap < 4; ++tap) {
      all[i].weight[tap] = cubic(center - static_cast<double>(first + tap));
      all[i].at[tap] = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(first + tap, 0, last));
    }
  }
  return all;
}

// in (h, w, D) -> out (h', w', D); neither grid is empty.
void resize(const float* in, Grid from, float* out, Grid to, std::size_t width) {
  const std::vector<Taps> rows = taps_of(from.rows, to.rows);
  const std::vector<Taps> columns = taps_of(from.columns, to.columns);
  std::vector<double> sum(width);
  for (const Taps& y : rows) {
    for (const Taps& x : columns) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t tap = 0; tap < 16; ++tap) {
        const double weight = y.weight[tap / 4] * x.weight[tap % 4];
        const float* pixel = in + (y.at[tap / 4] * from.columns + x.at[tap % 4]) * width;
        for (std::size_t i = 0; i < width; ++i) sum[i] += weight * static_cast<double>(pixel[i]);
      }
      for (std::size_t i = 0; i < width; ++i) *out++ = static_cast<float>(sum[i]);
    }
  }
}

void check(Grid from, Grid to) {
  if (from.patches() == 0 || to.patches() == 0) {
    fail(ErrorCode::invalid_argument, "position interpolation: from ", from.rows, " x ",
         from.columns, " to ", to.rows, " x ", to.columns, "; no grid may be empty");
  }
}

}  // namespace

Tensor interpolate_bicubic(const TensorView& image, Grid to) {
  if (image.shape().rank() != 3) {
    fail(ErrorCode::shape_mismatch, "position interpolation: image of shape ", image.shape().text(),
         ", expected [rows, columns, d_model]");
  }
  const Grid from{image.dim(0), image.dim(1)};
  check(from, to);
  Tensor resized({to.rows, to.columns, image.dim(2)});
  resize(image.f32(), from, resized.f32(), to, image.dim(2));
  return resized;
}

Tensor interpolate_positions(const TensorView& table, Grid from, Grid to) {
  const Shape& shape = table.shape();
  const bool fits = (shape.rank() == 2 || (shape.rank() == 3 && shape[0] == 1)) &&
                    shape.back(1) >= from.patches();
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "position interpolation: table of shape ", shape.text(),
         ", expected [tokens + ", from.patches(), ", d_model] for a grid of ", from.rows, " x ",
         from.columns);
  }
  check(from, to);
  const std::size_t tokens = shape.back(1) - from.patches(), width = shape.back(0);
  Shape resized_shape = shape;
  resized_shape[shape.rank() - 2] = tokens + to.patches();
  Tensor resized(resized_shape);
  std::memcpy(resized.f32(), table.f32(), tokens * width * sizeof(float));
  resize(table.f32() + tokens * width, from, resized.f32() + tokens * width, to, width);
  return resized;
}

Grid square_grid(std::size_t rows, std::size_t tokens) {
  const std::size_t patches = rows < tokens ? 0 : rows - tokens;
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(patches))));
  if (side * side != patches || side == 0) {
    fail(ErrorCode::shape_mismatch, "position interpolation: a table of ", rows, " rows, ", tokens,
         " of them for tokens, has no square grid");
  }
  return {side, side};
}

}  // namespace clearformer
