#include "clearformer/layers/position_interpolation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace clearformer {

namespace {

// One input of an output along an axis, with its weight.
struct Tap {
  std::size_t at;
  double weight;
};
using AxisTaps = std::vector<Tap>;

// Cubic convolution kernel: 1 at distance 0, 0 at 1 and 2, smooth between.
double cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return ((x - 5.0) * x + 8.0) * a * x - 4.0 * a;
  return 0.0;
}

// The four nearest inputs; those outside are the edge's.
AxisTaps nearest_taps(double center, std::size_t from) {
  const auto first = static_cast<std::ptrdiff_t>(std::floor(center)) - 1;
  AxisTaps taps;
  for (std::ptrdiff_t tap = first; tap < first + 4; ++tap) {
    const auto last = static_cast<std::ptrdiff_t>(from) - 1;
    taps.push_back({static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(tap, 0, last)),
                    cubic(center - static_cast<double>(tap), -0.75)});
  }
  return taps;
}

// All inputs under the stretched kernel, as in torch: it counts those whose rounded distance is within its support.
AxisTaps covered_taps(double center, double scale, std::size_t from) {
  const double stretch = std::max(scale, 1.0), middle = center + 0.5;
  const double support = 2.0 * stretch;
  const auto first = static_cast<std::size_t>(std::max(std::floor(middle - support + 0.5), 0.0));
  const auto end = std::min(static_cast<std::size_t>(std::floor(middle + support + 0.5)), from);
  AxisTaps taps;
  double sum = 0.0;
  for (std::size_t at = first; at < end; ++at) {
    taps.push_back({at, cubic((static_cast<double>(at) - center) / stretch, -0.5)});
    sum += taps.back().weight;
  }
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

std::vector<AxisTaps> taps_of(std::size_t from, std::size_t to, Antialias antialias) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<AxisTaps> all;
  for (std::size_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale - 0.5;
    all.push_back(antialias == Antialias::yes ? covered_taps(center, scale, from)
                                              : nearest_taps(center, from));
  }
  return all;
}

// in (h, w, D) -> out (h', w', D); neither grid is empty.
void resize(const float* in, Grid from, float* out, Grid to, std::size_t width,
            Antialias antialias) {
  if (width == 0) return;
  const std::vector<AxisTaps> rows = taps_of(from.rows, to.rows, antialias);
  const std::vector<AxisTaps> columns = taps_of(from.columns, to.columns, antialias);
  std::vector<double> sum(width);
  for (const AxisTaps& y : rows) {
    for (const AxisTaps& x : columns) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t tap = 0; tap < y.size() * x.size(); ++tap) {
        const Tap &down = y[tap / x.size()], &across = x[tap % x.size()];
        const double weight = down.weight * across.weight;
        const float* pixel = in + (down.at * from.columns + across.at) * width;
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

Tensor interpolate_positions(const TensorView& table, Grid from, Grid to, Antialias antialias) {
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
  std::size_t& rows = resized_shape[shape.rank() - 2];
  if (__builtin_add_overflow(tokens, to.patches(), &rows)) rows = SIZE_MAX;  // refused below
  Tensor resized(resized_shape);
  std::memcpy(resized.f32(), table.f32(), tokens * width * sizeof(float));
  resize(table.f32() + tokens * width, from, resized.f32() + tokens * width, to, width, antialias);
  return resized;
}

void interpolate_positions_backward(const TensorView& d, Grid from, Grid to, Antialias antialias,
                                    float* d_table) {
  const std::size_t width = d.shape().back(0), tokens = d.shape().back(1) - to.patches();
  const std::vector<AxisTaps> rows = taps_of(from.rows, to.rows, antialias);
  const std::vector<AxisTaps> columns = taps_of(from.columns, to.columns, antialias);
  std::vector<double> sums((tokens + from.patches()) * width);
  const float* at = d.f32();
  for (std::size_t i = 0; i < tokens * width; ++i) sums[i] = static_cast<double>(*at++);
  for (const AxisTaps& y : rows) {
    for (const AxisTaps& x : columns) {
      for (std::size_t tap = 0; tap < y.size() * x.size(); ++tap) {
        const Tap &down = y[tap / x.size()], &across = x[tap % x.size()];
        const double weight = down.weight * across.weight;
        double* pixel = sums.data() + (tokens + down.at * from.columns + across.at) * width;
        for (std::size_t i = 0; i < width; ++i) pixel[i] += weight * static_cast<double>(at[i]);
      }
      at += width;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) d_table[i] += static_cast<float>(sums[i]);
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
