#include "clearformer/kernels/norm.h"

#include <cmath>

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

double total_of(const float* x, std::size_t count) {
  const DoubleSum sum = fold(x, count, 0.0f, DoubleSum{}, [](DoubleSum state, Vec value) {
    state.add(value);
    return state;
  });
  return sum.total();
}

float scale_of(const DoubleSum& squares, std::size_t count, float eps) {
  const double mean_square = squares.total() / static_cast<double>(count);
  return static_cast<float>(std::sqrt(mean_square + static_cast<double>(eps)));
}

}  // namespace

void center_rows(const float* x, float* centered, float* scale, std::size_t rows,
                 std::size_t columns, float eps) {
  for (std::size_t row = 0; row < rows; ++row, x += columns, centered += columns) {
    // The mean as a float plus the rounding error of that: x - high is exact near the mean.
    const double mean = total_of(x, columns) / static_cast<double>(columns);
    const Vec high(static_cast<float>(mean));
    const Vec low(static_cast<float>(mean - static_cast<double>(static_cast<float>(mean))));
    DoubleSum squares;
    for_each(columns, [&](std::size_t i, auto lanes) {
      store(centered + i, lanes, (load(x + i, lanes) - high) - low);
      squares.add_square(load(centered + i, lanes));
    });
    scale[row] = scale_of(squares, columns, eps);
  }
}

void root_mean_square(const float* x, float* scale, std::size_t rows, std::size_t columns,
                      float eps) {
  for (std::size_t row = 0; row < rows; ++row, x += columns) {
    const DoubleSum squares = fold(x, columns, 0.0f, DoubleSum{}, [](DoubleSum state, Vec value) {
      state.add_square(value);
      return state;
    });
    scale[row] = scale_of(squares, columns, eps);
  }
}

void divide_rows(const float* x, const float* scale, float* out, std::size_t rows,
                 std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row, x += columns, out += columns) {
    const Vec divisor(scale[row]);
    transform(x, out, columns, [divisor](Vec value) { return divide(value, divisor); });
  }
}

void divide_scale_shift_rows(const RowNorm& norm, float* out) {
  const float* x = norm.x;
  for (std::size_t row = 0; row < norm.rows; ++row, x += norm.columns, out += norm.columns) {
    const Vec divisor(norm.scale[row]);
    for_each(norm.columns, [&](std::size_t i, auto lanes) {
      Vec value = divide(load(x + i, lanes), divisor);
      if (norm.weight != nullptr) value *= load(norm.weight + i, lanes);
      if (norm.bias != nullptr) value += load(norm.bias + i, lanes);
      store(out + i, lanes, value);
    });
  }
}

void scale_shift_rows(const float* x, const float* weight, const float* bias, float* out,
                      std::size_t rows, std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row, x += columns, out += columns) {
    const float* from = x;
    if (weight != nullptr) {
      transform(from, weight, out, columns, [](Vec value, Vec factor) { return value * factor; });
      from = out;
    }
    if (bias != nullptr) {
      transform(from, bias, out, columns, [](Vec value, Vec shift) { return value + shift; });
      from = out;
    }
    if (from != out) transform(from, out, columns, [](Vec value) { return value; });
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
