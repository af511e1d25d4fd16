// How a tile of sums leaves the registers, for all matrix products (see Epilogue in matmul.h).
// Included by kernel files only.
#pragma once

#include <algorithm>

#include "clearformer/kernels/matmul.h"
#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

/// Columns of one panel.
inline constexpr std::size_t kWidth = kTileVectors * kLanes;

/// Where a product goes.
struct Destination {
  const Epilogue& epilogue;
  float* c;
  std::size_t c_stride;
  std::size_t n;

  /// Writes the vector of `row` that starts at `column`, which is one of N.
  template <class Lanes>
  void write(std::size_t row, std::size_t column, Vec sum, Lanes lanes) const {
    sum *= Vec(epilogue.scale);
    if (epilogue.bias != nullptr) sum += load(epilogue.bias + column, lanes);
    if (epilogue.residual != nullptr) {
      sum += load(epilogue.residual + row * epilogue.residual_stride + column, lanes);
    }
    store(c + row * c_stride + column, lanes, sum);
  }

  /// Writes vector `v` of a panel's columns, those past N left out.
  void write(std::size_t row, std::size_t panel, std::size_t v, Vec sum) const {
    const std::size_t column = panel * kWidth + v * kLanes;
    if (column + kLanes <= n) {
      write(row, column, sum, AllLanes{});
    } else if (column < n) {
      write(row, column, sum, FirstLanes{n - column});
    }
  }
};

/// multiply<P>(panel) for all panels of `n` columns, P at most Panels of them at once, with the
/// activation after every few of them, while they are in the cache.
template <std::size_t Panels = 1, class Multiply>
inline void for_each_panel(const Destination& to, std::size_t rows, Multiply multiply) {
  constexpr std::size_t kGroup = 16;
  const std::size_t panels = (to.n + kWidth - 1) / kWidth;
  for (std::size_t first = 0; first < panels; first += kGroup) {
    const std::size_t last = std::min(first + kGroup, panels);
    std::size_t panel = first;
    for (; panel + Panels <= last; panel += Panels) multiply.template operator()<Panels>(panel);
    for (; panel < last; ++panel) multiply.template operator()<1>(panel);
    if (to.epilogue.activation == nullptr) continue;
    const std::size_t column = first * kWidth, count = std::min(last * kWidth, to.n) - column;
    for (std::size_t row = 0; row < rows; ++row) {
      float* block = to.c + row * to.c_stride + column;
      to.epilogue.activation(block, block, count);
    }
  }
}

/// tile<R>(row) for all rows, R at most Rows.
template <std::size_t Rows, class Tile>
inline void for_each_tile(std::size_t row, std::size_t rows, Tile tile) {
  for (; row + Rows <= rows; row += Rows) tile.template operator()<Rows>(row);
  if constexpr (Rows > 1) {
    if (row < rows) for_each_tile<Rows - 1>(row, rows, tile);
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
