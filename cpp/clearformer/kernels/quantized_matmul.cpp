#include "clearformer/kernels/quantized_matmul.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "clearformer/kernels/float_tile.h"
#include "clearformer/kernels/quantized_rows.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

namespace {

// Elements of one register of weights, and of a step: kStep inputs of all columns of a panel.
template <class Dot>
constexpr std::size_t kRegister = kLanes * Dot::kStep;
template <class Dot>
constexpr std::size_t kStepWeights = kWidth * Dot::kStep;

// How a panel stores a block, for PanelDot: the bytes of a step, and what follows the steps.
template <PanelFormat format>
struct Block {
  static constexpr bool kNibbles = format == PanelFormat::q4;
  static constexpr std::size_t kStepBytes = kStepWeights<PanelDot> / (kNibbles ? 2 : 1);
  // Scales and, for q8, the sums of the weights.
  static constexpr std::size_t kScaleBytes = (kNibbles ? 2 : 4) * kWidth;
  static constexpr std::size_t kBytes = kSteps<PanelDot> * kStepBytes + kScaleBytes;
};

// The weights of a step from a packed panel.
template <PanelFormat format>
inline void load_step(const PanelDot& dot, const std::uint8_t* from,
                      PanelDot::WeightVec (&weights)[kTileVectors]) {
  if constexpr (format == PanelFormat::q4) {
    dot.load_nibbles(from, weights);
  } else {
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      weights[v] = PanelDot::load_weights(from + v * kRegister<PanelDot>);
    }
  }
}

// A block of some panels, packed or with their weights widened.
template <class Dot, PanelFormat format, bool wide, std::size_t Panels = 1>
struct Weights {
  using Stored = std::conditional_t<wide, typename Dot::WideWeight, std::uint8_t>;
  static constexpr std::size_t kStepElements = wide ? kStepWeights<Dot> : Block<format>::kStepBytes;
  const Stored* steps;
  std::size_t between = 0;                 // bytes from a panel to the next
  const unsigned char* of_wide = nullptr;  // scales of widened weights: in the packed panel

  /// The next step of all panels.
  void load(const PanelDot& dot, const Stored* from,
            typename Dot::WeightVec (&weights)[Panels][kTileVectors]) const {
#pragma GCC unroll 4
    for (std::size_t p = 0; p < Panels; ++p) {
      if constexpr (wide) {
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          weights[p][v] = Dot::load_weights(from + v * kRegister<Dot>);
        }
      } else {
        load_step<format>(dot, from + p * between, weights[p]);
      }
    }
  }
  /// The scales of vector v of all panels' columns; after W of them the sums of the weights.
  const std::uint16_t* scales(std::size_t v) const {
    const auto* of_panels = steps + kSteps<Dot> * kStepElements + v / kTileVectors * between;
    const auto* of_panel = reinterpret_cast<const std::uint16_t*>(
        wide ? of_wide : reinterpret_cast<const unsigned char*>(of_panels));
    return of_panel + v % kTileVectors * kLanes;
  }
  void next_panels() { steps += Panels * between; }
  void next_block() {
    steps += kSteps<Dot> * kStepElements + (wide ? 0 : Block<format>::kScaleBytes);
    if constexpr (wide) of_wide += Block<format>::kBytes;
  }
};

// A block of a tile's rows: the first row's inputs of the first step; its scale, followed by those of the other rows and,
// `group` floats after it, the corrections.
struct Inputs {
  const unsigned char* steps;
  std::size_t step_bytes;
  const unsigned char* scales;
  std::size_t group;

  IntVec correction(std::size_t r) const {
    std::int32_t correction;
    std::memcpy(&correction, scales + 4 * (group + r), sizeof correction);
    return IntVec(correction);
  }
};

// The sums of a block of Rows rows with Panels panels.
template <class Dot, PanelFormat format, bool wide, std::size_t Panels, std::size_t Rows>
[[gnu::always_inline]] inline void sum_block(Inputs x,
                                             const Weights<Dot, format, wide, Panels>& weights,
                                             IntVec (&whole)[Rows][Panels * kTileVectors]) {
  constexpr std::size_t kVectors = Panels * kTileVectors;
  constexpr Rounding kRounding = rounding_of<Dot>(format);
  constexpr std::size_t kHalves = kRounding.halves;
  // The inputs' offset times the weights' sum. Weights of a single row come from memory, which is read in order.
  constexpr bool kOffsetLast = Rows == 1;
  const auto offset = [&](std::size_t v) {
    constexpr int kOffsetBits = std::countr_zero(unsigned{kRounding.offset});
    const auto* sums_of_weights = reinterpret_cast<const std::int16_t*>(weights.scales(v) + kWidth);
    return load_shorts(sums_of_weights) << kOffsetBits;
  };
  IntVec sums[kHalves][Rows][kVectors];
#pragma GCC unroll 2
  for (std::size_t half = 0; half < kHalves; ++half) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      IntVec start(0);
      if constexpr (kRounding.offset != 0 && !kOffsetLast) {
        if (half == kHalves - 1) start = start - offset(v);
      }
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
        if constexpr (kRounding.corrected) start = x.correction(r);
        sums[half][r][v] = start;
      }
    }
  }
  const Dot dot;
  const auto* from = weights.steps;
  const auto step = [&] {
    typename Dot::WeightVec loaded[Panels][kTileVectors];
    weights.load(dot, from, loaded);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
      for (std::size_t half = 0; half < kHalves; ++half) {
        const auto* four =
            reinterpret_cast<const typename Dot::Quantum*>(x.steps + 4 * (r * kHalves + half));
        const auto inputs = repeat_step<Dot>(four);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v) {
          IntVec& sum = sums[half][r][v];
          const auto& column = loaded[v / kTileVectors][v % kTileVectors];
          sum =
              Block<format>::kNibbles ? dot.dot(sum, column, inputs) : dot.dot(sum, inputs, column);
        }
      }
    }
    from += Weights<Dot, format, wide, Panels>::kStepElements;
    x.steps += Rows == kRounding.tile_rows ? 4 * Rows * kHalves : x.step_bytes;
  };
#pragma GCC unroll 1
  for (std::size_t i = 0; i < kSteps<Dot>; ++i) step();
#pragma GCC unroll 2
  for (auto& half : sums) {
#pragma GCC unroll 16
    for (auto& row : half) {
#pragma GCC unroll 8
      for (IntVec& sum : row) settle(sum);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      whole[r][v] = sums[kHalves - 1][r][v];
      if constexpr (kHalves == 2) whole[r][v] += sums[0][r][v] << 6;
      if constexpr (kRounding.offset != 0 && kOffsetLast) whole[r][v] -= offset(v);
    }
  }
}

#if CLEARFORMER_DOT_OF_PAIRS

// The same of q4: with its correction a block's sum of pairs fits in 16 bits, 16 · 2 · 127 · 8, so only that is widened.
template <bool wide, std::size_t Panels, std::size_t Rows>
[[gnu::always_inline]] inline void sum_block(
    Inputs x, const Weights<PairDot, PanelFormat::q4, wide, Panels>& weights,
    IntVec (&whole)[Rows][Panels * kTileVectors]) {
  constexpr std::size_t kVectors = Panels * kTileVectors;
  PairDot::Pairs pairs[Rows][kVectors];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (auto& each : pairs[r]) each = bitwise_cast<std::int16_t>(x.correction(r));
  }
  const PairDot dot;
  const auto* from = weights.steps;
#pragma GCC unroll 1
  for (std::size_t i = 0; i < kSteps<PairDot>; ++i) {
    ByteVec loaded[Panels][kTileVectors];
    weights.load(dot, from, loaded);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto* four = reinterpret_cast<const PairDot::Quantum*>(x.steps + 4 * r);
      const auto inputs = repeat_step<PairDot>(four);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) {
        pairs[r][v] = PairDot::add(
            pairs[r][v], PairDot::pairs(loaded[v / kTileVectors][v % kTileVectors], inputs));
      }
    }
    from += Weights<PairDot, PanelFormat::q4, wide, Panels>::kStepElements;
    x.steps += Rows == PairDot::kRows ? 4 * Rows : x.step_bytes;
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) whole[r][v] = PairDot::widened(pairs[r][v]);
  }
}

#endif

// Adds the products of a block of Rows rows with Panels panels to `totals` (Rows, Panels · W).
template <std::size_t Rows, class Dot, PanelFormat format, bool wide, std::size_t Panels>
[[gnu::always_inline]] inline void add_block(const Inputs& x,
                                             const Weights<Dot, format, wide, Panels>& weights,
                                             Vec* totals) {
  constexpr std::size_t kVectors = Panels * kTileVectors;
  IntVec sums[Rows][kVectors];
  sum_block(x, weights, sums);
  Vec column_scales[kVectors];
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kVectors; ++v) column_scales[v] = load_bf16(weights.scales(v));
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
    float row_scale;
    std::memcpy(&row_scale, x.scales + 4 * r, sizeof row_scale);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Vec scale = column_scales[v] * Vec(row_scale);
      Vec& total = totals[r * kVectors + v];
      total = total + to_float(sums[r][v]) * scale;
    }
  }
}

// All blocks. The totals are in memory: registers are for one block's sums.
template <class Dot, PanelFormat format, bool wide, std::size_t Rows>
CLEARFORMER_LOOP void add_blocks(const QuantizedRows& rows, std::size_t row,
                                 Weights<Dot, format, wide> weights,
                                 Vec (&sums)[Rows][kTileVectors]) {
  constexpr std::size_t kHalves = rounding_of<Dot>(format).halves;
  const std::size_t index = rows.index_of(row), step_bytes = rows.step_bytes, group = rows.group;
  const unsigned char* x = rows.group_of(row);
  for (std::size_t block = rows.blocks; block > 0; --block) {
    const Inputs inputs{x + 4 * kHalves * index, step_bytes,
                        x + kSteps<Dot> * step_bytes + 4 * index, group};
    add_block<Rows>(inputs, weights, sums[0]);
    x += rows.block_bytes;
    weights.next_block();
  }
}

// Packed panels that a single row is multiplied by side by side; more gain nothing.
constexpr std::size_t kBeside = 2;

// The same of a single row and kBeside · turns packed panels: a block of each kBeside in turn.
template <class Dot, PanelFormat format>
CLEARFORMER_LOOP void add_blocks_in_turns(const QuantizedRows& rows,
                                          Weights<Dot, format, false, kBeside> first,
                                          std::size_t turns, Vec (*sums)[kTileVectors]) {
  const std::size_t step_bytes = rows.step_bytes, group = rows.group;
  const unsigned char* x = rows.group_of(0);
  for (std::size_t block = rows.blocks; block > 0; --block) {
    const Inputs inputs{x, step_bytes, x + kSteps<Dot> * step_bytes, group};
    auto weights = first;
    for (std::size_t p = 0; p < turns * kBeside; p += kBeside) {
      add_block<1>(inputs, weights, sums[p]);
      weights.next_panels();
    }
    x += rows.block_bytes;
    first.next_block();
  }
}

// The rows of a product by one panel.
template <class Dot, PanelFormat format, bool wide>
inline void multiply_rows(const QuantizedMatmulArgs& args, const QuantizedRows& rows,
                          const Destination& to, std::size_t panel,
                          const Weights<Dot, format, wide>& weights) {
  constexpr std::size_t kRows =
      wide || Dot::kUnsignedInputs ? rounding_of<Dot>(format).tile_rows : 2;
  // Six rows are a tile of relaxed SIMD, where one of four would not be worth its bytes.
  constexpr std::size_t kNext = kRows == 6 ? 2 : (kRows - 1) / 2 * 2;
  const std::size_t bytes = rows.blocks * Block<format>::kBytes;
  Ahead next_panel(args.panels + (panel + 1) * bytes, (panel + 1) * kWidth < to.n ? bytes : 0,
                   (args.m + kRows - 1) / kRows);
  for_each_tile<kRows, kNext>(0, args.m, [&]<std::size_t Rows>(std::size_t row) {
    Destination::Tile<Rows> tile;
    next_panel.fetch();
    for (auto& sums : tile.sums) std::fill(sums, sums + kTileVectors, Vec(0.0f));
    add_blocks(rows, row, weights, tile.sums);
    to.write(row, panel, tile);
  });
}

// Many rows read a panel whose weights were widened once: nibbles, and bytes where products are of 16 bits.
template <class Dot, PanelFormat format>
void multiply_panel(const QuantizedMatmulArgs& args, const QuantizedRows& rows,
                    const Destination& to, std::size_t panel) {
  using Of = Block<format>;
  const unsigned char* bytes = args.panels + panel * rows.blocks * Of::kBytes;
  if constexpr (Of::kNibbles || !Dot::kUnsignedInputs) {
    if (args.m >= kWidenFrom) {
      const PanelDot dot;
      const unsigned char* scales = bytes + kSteps<PanelDot> * Of::kStepBytes;
      auto* const wide = static_cast<typename Dot::WideWeight*>(args.workspace);
      auto* place = wide;
      for (std::size_t block = 0; block < rows.blocks; ++block, bytes += Of::kScaleBytes) {
#pragma GCC unroll 4
        for (std::size_t step = 0; step < kSteps<Dot>; ++step, bytes += Of::kStepBytes) {
          typename Dot::WeightVec loaded[kTileVectors];
          load_step<format>(dot, bytes, loaded);
          for (const auto& each : loaded) {
            each.store_aligned(place);
            place += kRegister<Dot>;
          }
        }
      }
      return multiply_rows<Dot, format, true>(args, rows, to, panel, {wide, 0, scales});
    }
  }
  multiply_rows<Dot, format, false>(args, rows, to, panel, {bytes});
}

// A single row by kBeside · turns panels, `apart` from one another.
template <class Dot, PanelFormat format>
void multiply_streams(const QuantizedMatmulArgs& args, const QuantizedRows& rows,
                      const Destination& to, std::size_t panel, std::size_t apart) {
  const std::size_t turns = args.turns;
  const std::size_t bytes = rows.blocks * Block<format>::kBytes;
  const unsigned char* steps = args.panels + panel * bytes;
  Vec sums[kMostTurns * kBeside][kTileVectors];
  std::fill_n(sums[0], turns * kBeside * kTileVectors, Vec(0.0f));
  add_blocks_in_turns<Dot, format>(rows, {steps, apart * bytes}, turns, sums);
  to.write_row(panel, apart, sums, turns * kBeside);
}

// All rows by all panels.
template <class Dot, PanelFormat format>
void multiply_panels(const QuantizedMatmulArgs& args, const QuantizedRows& rows,
                     const Destination& to) {
  if (args.m > 1) {
    return for_each_panel(
        to, args.m, [&](std::size_t panel) { multiply_panel<Dot, format>(args, rows, to, panel); });
  }
  for_each_stream<kBeside>(to, args.turns,
                           [&]<std::size_t Panels>(std::size_t panel, std::size_t apart) {
                             if constexpr (Panels == 1) {
                               multiply_panel<Dot, format>(args, rows, to, panel);
                             } else {
                               multiply_streams<Dot, format>(args, rows, to, panel, apart);
                             }
                           });
}

}  // namespace

std::size_t dot_bits() {
  return with_dot(kWidenFrom, []<class Dot>(Dot) { return Dot::kBits; });
}

std::size_t panel_step() { return PanelDot::kStep; }

std::size_t panel_bytes(PanelFormat format, std::size_t k) {
  switch (format) {
    case PanelFormat::f16: return k * kWidth * 2;
    case PanelFormat::q4: return blocks_of(k) * Block<PanelFormat::q4>::kBytes;
    default: return blocks_of(k) * Block<PanelFormat::q8>::kBytes;
  }
}

std::size_t panel_workspace_bytes(PanelFormat format, std::size_t k) {
  if (format == PanelFormat::f16) return k * kWidth * sizeof(float);
  return blocks_of(k) * kBlock * kWidth * sizeof(std::int16_t);
}

void quantized_matmul(const QuantizedMatmulArgs& args) {
  const Destination to{args.epilogue, args.c, args.c_stride, args.n};
  if (args.format == PanelFormat::f16) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(args.panels);
    const FloatRows rows{args.x, args.x_stride, args.m, args.k, 1, args.unlift};
    return multiply_narrow(rows, halves, args.k * kWidth, to, args.turns,
                           static_cast<float*>(args.workspace));
  }
  with_dot(args.m, [&]<class Dot>(Dot) {
    const QuantizedRows rows(rounding_of<Dot>(args.format), args);
    switch (args.format) {
      case PanelFormat::q8_fine: return multiply_panels<Dot, PanelFormat::q8_fine>(args, rows, to);
      case PanelFormat::q4: return multiply_panels<Dot, PanelFormat::q4>(args, rows, to);
      default: return multiply_panels<Dot, PanelFormat::q8>(args, rows, to);
    }
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
