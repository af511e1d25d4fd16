// The register tile of float products: some rows by one panel, whose elements are fp32, or fp16 or signed bytes that
// are widened. Included by kernel files only.
#pragma once

#include <type_traits>

#include "clearformer/kernels/epilogue.h"
#include "clearformer/simd/integer.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

/// The left-hand side (M, K): element (m, k) is a[m · stride + k · step].
struct FloatRows {
  const float* a;
  std::size_t stride;
  std::size_t m, k;
  std::size_t step = 1;
  float unlift = 1.0f;  // halves of the right-hand side are multiplied by it, a power of two
};

/// A finite half as the float 2^-112 times as large, in whose place its exponent and mantissa are.
enum class ScaledHalf : std::uint16_t {};

/// Loads a panel's columns for one input.
template <class Element>
class PanelReader {
 public:
  explicit PanelReader(float unlift = 1.0f) : halves_(unlift) {}

  void load(const Element* from, Vec (&columns)[kTileVectors]) const {
    if constexpr (std::is_same_v<Element, float>) {
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        columns[v] = simd::CLEARFORMER_TARGET::load(from + v * kLanes);
      }
    } else if constexpr (std::is_same_v<Element, std::int8_t>) {
      load_bytes(from, columns);
    } else if constexpr (std::is_same_v<Element, ScaledHalf>) {
      halves_.load_scaled(reinterpret_cast<const std::uint16_t*>(from), columns);
    } else {
      halves_.load(from, columns);
    }
  }

 private:
  Halves halves_;
};

// The depth loop is not unrolled: V8, and compilers for two-address machines, would spill registers.
template <std::size_t Rows, class Element>
CLEARFORMER_LOOP void multiply_tile(const FloatRows& rows, std::size_t row, const Element* b,
                                    const Destination& to, std::size_t panel) {
  to.prefetch<Rows>(row, panel);
  Vec sums[Rows][kTileVectors];
  CLEARFORMER_UNROLL for (std::size_t r = 0; r < Rows; ++r) {
    CLEARFORMER_UNROLL for (std::size_t v = 0; v < kTileVectors; ++v) sums[r][v] = Vec(0.0f);
  }
  const PanelReader<Element> reader(rows.unlift);
  const float* a = rows.a + row * rows.stride;
  for (std::size_t k = 0; k < rows.k; ++k, a += rows.step, b += kWidth) {
    Vec columns[kTileVectors];
    reader.load(b, columns);
    CLEARFORMER_UNROLL for (std::size_t r = 0; r < Rows; ++r) {
      const Vec value(a[r * rows.stride]);
      CLEARFORMER_UNROLL for (std::size_t v = 0; v < kTileVectors; ++v) {
        sums[r][v] = multiply_add(value, columns[v], sums[r][v]);
      }
    }
  }
  Destination::Tile<Rows> tile;
  CLEARFORMER_UNROLL for (std::size_t r = 0; r < Rows; ++r) {
    CLEARFORMER_UNROLL for (std::size_t v = 0; v < kTileVectors; ++v) tile.sums[r][v] = sums[r][v];
  }
  to.write(row, panel, tile);
}

/// Adds the products of `count` inputs, `step` apart, with Panels panels, `between` elements apart, to `totals`.
template <std::size_t Panels, class Element>
CLEARFORMER_LOOP void add_inputs(const float* a, std::size_t step, std::size_t count,
                                 const Element* b, std::size_t between,
                                 Vec (*totals)[kTileVectors]) {
  Vec sums[Panels][kTileVectors];
  CLEARFORMER_UNROLL for (std::size_t p = 0; p < Panels; ++p) {
    for (std::size_t v = 0; v < kTileVectors; ++v) sums[p][v] = totals[p][v];
  }
  const PanelReader<Element> reader;
  for (std::size_t k = 0; k < count; ++k, a += step, b += kWidth) {
    const Vec value(*a);
    CLEARFORMER_UNROLL for (std::size_t p = 0; p < Panels; ++p) {
      Vec columns[kTileVectors];
      reader.load(b + p * between, columns);
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        sums[p][v] = multiply_add(value, columns[v], sums[p][v]);
      }
    }
  }
  CLEARFORMER_UNROLL for (std::size_t p = 0; p < Panels; ++p) {
    for (std::size_t v = 0; v < kTileVectors; ++v) totals[p][v] = sums[p][v];
  }
}

/// A single row by Beside · turns panels, `apart` from one another: Beside of them side by side, since with one every step
/// would wait for the previous sum, and some inputs of each such group in turn.
template <std::size_t Beside, class Element>
inline void multiply_row(const FloatRows& rows, const Element* b, std::size_t stride,
                         const Destination& to, std::size_t panel, std::size_t apart,
                         std::size_t turns) {
  const std::size_t turn = turns > 1 ? 32 : rows.k, between = apart * stride;
  const float* a = rows.a;
  b += panel * stride;
  Vec sums[kMostTurns * Beside][kTileVectors];
  std::fill_n(sums[0], turns * Beside * kTileVectors, Vec(0.0f));
  for (std::size_t left = rows.k; left > 0;) {
    const std::size_t count = std::min(turn, left);
    const Element* from = b;
    for (std::size_t p = 0; p < turns * Beside; p += Beside, from += Beside * between) {
      add_inputs<Beside>(a, rows.step, count, from, between, sums + p);
    }
    a += count * rows.step;
    b += count * kWidth;
    left -= count;
  }
  to.write_row(panel, apart, sums, turns * Beside);
}

/// A single row by all panels, `stride` elements apart. Floats are read at the rate of memory from four streams side by
/// side; narrow elements take fewer instructions in pairs.
template <class Element>
inline void multiply_single_row(const FloatRows& rows, const Element* b, std::size_t stride,
                                const Destination& to, std::size_t turns) {
  constexpr std::size_t kBeside = sizeof(Element) == sizeof(float) ? 4 : 2;
  for_each_stream<kBeside>(
      to, turns, [&]<std::size_t Beside>(std::size_t panel, std::size_t apart) {
        multiply_row<Beside>(rows, b, stride, to, panel, apart, Beside == kBeside ? turns : 1);
      });
}

/// The panel after the one that starts at `b`, `stride` elements apart, fetched in the steps of all rows' tiles. A
/// panel is too short for a processor to fetch it ahead by itself.
template <class Element>
inline Ahead next_panel(const FloatRows& rows, const Element* b, std::size_t stride,
                        const Destination& to, std::size_t panel) {
  const bool last = (panel + 1) * kWidth >= to.n;
  return {b + stride, last ? 0 : rows.k * kWidth * sizeof(Element),
          (rows.m + kTileRows - 1) / kTileRows};
}

/// All rows by the panel that starts at `b`, while the next one is fetched.
inline void multiply_panel(const FloatRows& rows, const float* b, const Destination& to,
                           std::size_t panel, Ahead next) {
  for_each_tile<kTileRows>(0, rows.m, [&]<std::size_t Rows>(std::size_t row) {
    next.fetch();
    multiply_tile<Rows>(rows, row, b, to, panel);
  });
}

/// A single row by halves. The row is scaled instead of every half, which changes no bit; returns false for a row that is
/// too large. `scaled`: room for the row.
inline bool multiply_scaled_row(const FloatRows& rows, const std::uint16_t* b, std::size_t stride,
                                const Destination& to, std::size_t turns, float* scaled) {
  constexpr std::int32_t kSmall = 0x46800000;  // 2^14: NaN and infinity are larger, too
  const IntVec largest = fold(rows.a, rows.k, 0.0f, IntVec(0), [](IntVec state, Vec value) {
    return max(state, bitwise_cast<std::int32_t>(abs(value)));
  });
  if (reduce_max(largest) >= kSmall) return false;
  const Vec scale(0x1p112f * rows.unlift);
  transform(rows.a, scaled, rows.k, [&](Vec value) { return value * scale; });
  const FloatRows row{scaled, rows.k, 1, rows.k};
  multiply_single_row(row, reinterpret_cast<const ScaledHalf*>(b), stride, to, turns);
  return true;
}

/// Rows from which widening a panel first is worth while.
inline constexpr std::size_t kWidenFrom = 3;

/// All rows by all panels of narrow elements, `stride` elements apart. `wide`: room for one panel of floats. The bits are
/// those of the product with the widened elements.
template <class Element>
inline void multiply_narrow(const FloatRows& rows, const Element* b, std::size_t stride,
                            const Destination& to, std::size_t turns, float* wide) {
  if (rows.m == 1) {
    if constexpr (sizeof(Element) == 2) {
      if (multiply_scaled_row(rows, b, stride, to, turns, wide)) return;
    } else {
      return multiply_single_row(rows, b, stride, to, turns);
    }
  }
  for_each_panel(to, rows.m, [&](std::size_t panel) {
    const Element* from = b + panel * stride;
    Ahead next = next_panel(rows, from, stride, to, panel);
    if (rows.m < kWidenFrom) {
      next.fetch();
      return for_each_tile<kWidenFrom - 1>(0, rows.m, [&]<std::size_t Rows>(std::size_t row) {
        multiply_tile<Rows>(rows, row, from, to, panel);
      });
    }
    const PanelReader<Element> reader(rows.unlift);
    for (std::size_t i = 0; i < rows.k * kWidth; i += kWidth) {
      Vec columns[kTileVectors];
      reader.load(from + i, columns);
      for (std::size_t v = 0; v < kTileVectors; ++v) store(wide + i + v * kLanes, columns[v]);
    }
    multiply_panel(rows, wide, to, panel, next);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
