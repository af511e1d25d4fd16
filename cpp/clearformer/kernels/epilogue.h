// The epilogue of all matrix products: how a tile of sums is written (see Epilogue in matmul.h).
// Included by kernel files only.
#pragma once

#include <algorithm>

#include "clearformer/kernels/matmul.h"
#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

/// Columns of one panel.
inline constexpr std::size_t kWidth = kTileVectors * kLanes;

/// The destination of a product.
struct Destination {
  const Epilogue& epilogue;
  float* c;
  std::size_t c_stride;
  std::size_t n;

  /// Writes the vector of `row` that starts at `column` < N.
  template <class Lanes>
  void put(std::size_t row, std::size_t column, Vec sum, Lanes lanes) const {
    sum *= Vec(epilogue.scale);
    if (epilogue.bias != nullptr) sum += load(epilogue.bias + column, lanes);
    if (epilogue.residual != nullptr) {
      sum += load(epilogue.residual + row * epilogue.residual_stride + column, lanes);
    }
    store(c + row * c_stride + column, lanes, sum);
  }

  /// Fetches the place of a tile for writing, while its sums are made.
  template <std::size_t Rows>
  void prefetch(std::size_t row, std::size_t panel) const {
    const float* to = c + row * c_stride + panel * kWidth;
    for (std::size_t r = 0; r < Rows; ++r, to += c_stride) {
      for (std::size_t i = 0; i < kWidth; i += kLine) prefetch_for_writing(to + i);
    }
  }

  /// Writes a tile of sums, without the columns past N. It is a copy of the caller's, whose loop then keeps its sums in
  /// registers.
  template <std::size_t Rows>
  struct Tile {
    Vec sums[Rows][kTileVectors];
  };
  template <std::size_t Rows>
  void write(std::size_t row, std::size_t panel, const Tile<Rows>& tile) const {
    write(row, Rows, panel, tile.sums);
  }

  /// Writes the sums of a single row with `count` panels that are `apart` from one another.
  void write_row(std::size_t panel, std::size_t apart, const Vec (*sums)[kTileVectors],
                 std::size_t count) const {
    for (; count > 0; --count, panel += apart) write(0, 1, panel, sums++);
  }

 private:
  // Not inlined: there are many kinds of tile.
  CLEARFORMER_LOOP void write(std::size_t first_row, std::size_t rows, std::size_t panel,
                              const Vec (*sums)[kTileVectors]) const {
    const std::size_t column = panel * kWidth;
    if (column + kWidth > n) return write_part(first_row, rows, column, sums);
    Vec bias[kTileVectors];
    for (std::size_t v = 0; v < kTileVectors; ++v) {  // adding -0 changes no number
      bias[v] = epilogue.bias != nullptr ? load(epilogue.bias + column + v * kLanes) : Vec(-0.0f);
    }
    const Vec scale(epilogue.scale);
    float* to = c + first_row * c_stride + column;
    const float* residual = epilogue.residual;
    if (residual != nullptr) residual += first_row * epilogue.residual_stride + column;
    for (; rows > 0; --rows, ++sums, to += c_stride) {
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        Vec sum = (*sums)[v] * scale + bias[v];
        if (residual != nullptr) sum += load(residual + v * kLanes);
        store(to + v * kLanes, sum);
      }
      if (residual != nullptr) residual += epilogue.residual_stride;
    }
  }

  // The last panel, if it has columns past N.
  CLEARFORMER_LOOP void write_part(std::size_t first_row, std::size_t rows, std::size_t column,
                                   const Vec (*sums)[kTileVectors]) const {
    for (std::size_t row = first_row; row < first_row + rows; ++row, ++sums) {
      for_each(n - column, [&](std::size_t i, auto lanes) {
        put(row, column + i, (*sums)[i / kLanes], lanes);
      });
    }
  }
};

/// Calls multiply(panel) for all panels, and applies the activation after every few, while they are in the cache.
template <class Multiply>
inline void for_each_panel(const Destination& to, std::size_t rows, Multiply multiply) {
  constexpr std::size_t kGroup = 16;
  const std::size_t panels = (to.n + kWidth - 1) / kWidth;
  for (std::size_t first = 0; first < panels; first += kGroup) {
    const std::size_t last = std::min(first + kGroup, panels);
    for (std::size_t panel = first; panel < last; ++panel) multiply(panel);
    if (to.epilogue.activation == nullptr) continue;
    const std::size_t column = first * kWidth, count = std::min(last * kWidth, to.n) - column;
    for (std::size_t row = 0; row < rows; ++row) {
      float* block = to.c + row * to.c_stride + column;
      to.epilogue.activation(block, block, count);
    }
  }
}

/// For a single row: calls multiply<Beside>(panel, apart) for Beside · turns panels at once that are `apart` from one
/// another, and multiply<1>(panel, 0) for each one left over. Their weights are long streams, of which a processor
/// fetches more ahead than of one: of adjacent panels each would be a short one, for which it fetches nothing ahead.
template <std::size_t Beside, class Multiply>
inline void for_each_stream(const Destination& to, std::size_t turns, Multiply multiply) {
  const std::size_t panels = (to.n + kWidth - 1) / kWidth, streams = Beside * turns;
  const std::size_t apart = panels / streams;
  for (std::size_t panel = 0; panel < apart; ++panel) {
    multiply.template operator()<Beside>(panel, apart);
  }
  for (std::size_t panel = streams * apart; panel < panels; ++panel) {
    multiply.template operator()<1>(panel, 0);
  }
  if (to.epilogue.activation != nullptr) to.epilogue.activation(to.c, to.c, to.n);
}

/// Calls tile<R>(row) for all rows, R at most Rows; smaller tiles exist for Next rows and the even numbers below, and for
/// one row only, to limit code size.
template <std::size_t Rows, std::size_t Next = (Rows - 1) / 2 * 2, class Tile>
inline void for_each_tile(std::size_t row, std::size_t rows, Tile tile) {
  for (; row + Rows <= rows; row += Rows) tile.template operator()<Rows>(row);
  if constexpr (Rows > 1) {
    if (row < rows) for_each_tile<Rows == 2 ? 1 : Next>(row, rows, tile);
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
