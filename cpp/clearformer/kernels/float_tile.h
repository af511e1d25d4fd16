// The register tile of products in float: some rows by one panel, whose elements are floats or
// halves. Included by kernel files only.
#pragma once

#include "clearformer/kernels/epilogue.h"
#include "clearformer/simd/integer.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

/// The left-hand side (M, K).
struct FloatRows {
  const float* a;
  std::size_t stride;
  std::size_t m, k;
};

/// The columns of one input of a panel.
inline void load_columns(const float* from, Vec (&columns)[kTileVectors]) {
  for (std::size_t v = 0; v < kTileVectors; ++v) columns[v] = load(from + v * kLanes);
}
inline void load_columns(const std::uint16_t* from, Vec (&columns)[kTileVectors]) {
  load_halves(from, columns);
}

// The depth loop is not unrolled: V8 and two-address machines spill otherwise.
template <std::size_t Rows, class Element>
CLEARFORMER_LOOP void multiply_tile(const FloatRows& rows, std::size_t row, const Element* b,
                                    const Destination& to, std::size_t panel) {
  Vec sums[Rows][kTileVectors];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) sums[r][v] = Vec(0.0f);
  }
  const float* a = rows.a + row * rows.stride;
  for (std::size_t k = 0; k < rows.k; ++k, b += kWidth) {
    Vec columns[kTileVectors];
    load_columns(b, columns);
    for (std::size_t r = 0; r < Rows; ++r) {
      const Vec value(a[r * rows.stride + k]);
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        sums[r][v] = multiply_add(value, columns[v], sums[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) to.write(row + r, panel, v, sums[r][v]);
  }
}

/// A single row by Panels panels at once: with one, each step has to wait for the sum before.
template <std::size_t Panels, class Element>
CLEARFORMER_LOOP void multiply_row(const FloatRows& rows, const Element* b, std::size_t stride,
                                   const Destination& to, std::size_t panel) {
  Vec sums[Panels][kTileVectors];
  for (std::size_t p = 0; p < Panels; ++p) {
    for (std::size_t v = 0; v < kTileVectors; ++v) sums[p][v] = Vec(0.0f);
  }
  for (std::size_t k = 0; k < rows.k; ++k, b += kWidth) {
    const Vec value(rows.a[k]);
    for (std::size_t p = 0; p < Panels; ++p) {
      Vec columns[kTileVectors];
      load_columns(b + p * stride, columns);
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        sums[p][v] = multiply_add(value, columns[v], sums[p][v]);
      }
    }
  }
  for (std::size_t p = 0; p < Panels; ++p) {
    for (std::size_t v = 0; v < kTileVectors; ++v) to.write(0, panel + p, v, sums[p][v]);
  }
}

/// A single row by all panels, `stride` elements from one to the next. From the main memory a single
/// stream comes fastest, and more of them far slower; from the caches two panels at once do.
template <class Element>
inline void multiply_single_row(const FloatRows& rows, const Element* b, std::size_t stride,
                                const Destination& to) {
  constexpr std::size_t kCached = std::size_t{4} << 20;
  const auto multiply = [&]<std::size_t Panels>(std::size_t panel) {
    multiply_row<Panels>(rows, b + panel * stride, stride, to, panel);
  };
  if (rows.k * to.n * sizeof(Element) <= kCached) {
    for_each_panel<2>(to, 1, multiply);
  } else {
    for_each_panel(to, 1, multiply);
  }
}

/// All rows by the panel that starts at `b`.
inline void multiply_panel(const FloatRows& rows, const float* b, const Destination& to,
                           std::size_t panel) {
  for_each_tile<kTileRows>(0, rows.m, [&]<std::size_t Rows>(std::size_t row) {
    multiply_tile<Rows>(rows, row, b, to, panel);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
