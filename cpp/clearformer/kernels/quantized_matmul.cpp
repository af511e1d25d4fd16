#include "clearformer/kernels/quantized_matmul.h"

#include <algorithm>

#include "clearformer/kernels/float_tile.h"
#include "clearformer/kernels/quantized_rows.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

namespace {

constexpr std::size_t kQuads = kInputBlock / 4;  // per block
constexpr std::size_t kDots = kTileVectors * kDotsPerVector;
constexpr std::size_t kQuadBytes = kWidth * 4;             // four inputs of all columns of a panel
constexpr std::size_t kRegister = kQuadBytes / kDots;      // elements in one register of weights
constexpr std::size_t kNibbleBytes = kQuads * kWidth * 2;  // a block of q4 without its scales
constexpr std::size_t kBlockBytes4 = kNibbleBytes + 2 * kWidth;
constexpr std::size_t kScaleBytes8 = (sizeof(float) + sizeof(std::int32_t)) * kWidth;
constexpr std::size_t kUnpackFrom = 3;  // rows from which unpacking a panel first is worth while

using WeightVec = decltype(load_weights(static_cast<const WideWeight*>(nullptr)));

template <std::size_t Rows>
struct Sums {
  IntVec lanes[Rows][kDots];

  Sums() {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
      for (std::size_t d = 0; d < kDots; ++d) lanes[r][d] = IntVec(0);
    }
  }
  IntVec outputs(std::size_t r, std::size_t v) const {
    return outputs_of(&lanes[r][v * kDotsPerVector]);
  }
};

template <class Stored>
inline void load_quad(const Stored* from, WeightVec (&weights)[kDots]) {
#pragma GCC unroll 16
  for (std::size_t d = 0; d < kDots; ++d) weights[d] = load_weights(from + d * kRegister);
}

// q8: the sums of each half of the inputs, or of whole inputs.
template <std::size_t Rows>
struct LongSums {
  Sums<Rows> halves[kHalves];

  void add(const WeightVec (&weights)[kDots], const Quantum* x, std::size_t stride) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
      for (std::size_t half = 0; half < kHalves; ++half) {
        const auto inputs = repeat_four(x + r * stride + 4 * half);
        IntVec(&lanes)[kDots] = halves[half].lanes[r];
#pragma GCC unroll 16
        for (std::size_t d = 0; d < kDots; ++d) lanes[d] = dot(lanes[d], inputs, weights[d]);
      }
    }
  }
  void settle() {
#pragma GCC unroll 16
    for (std::size_t half = 0; half < kHalves; ++half) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
        for (std::size_t d = 0; d < kDots; ++d) {
          simd::CLEARFORMER_TARGET::settle(halves[half].lanes[r][d]);
        }
      }
    }
  }
  // `offset`: the offset that makes the inputs unsigned, times the sum of the weights.
  IntVec outputs(std::size_t r, std::size_t v, IntVec offset) const {
    if constexpr (kHalves == 1) {
      return halves[0].outputs(r, v);
    } else {
      return (halves[0].outputs(r, v) << 6) + (halves[1].outputs(r, v) - offset);
    }
  }
};

template <std::size_t Rows, class Stored>
inline void add_quads(LongSums<Rows>& sums, const Stored* weights, std::size_t quads,
                      const Quantum* x, std::size_t stride) {
  for (std::size_t quad = 0; quad < quads; ++quad, weights += kQuadBytes, x += 4 * kHalves) {
    WeightVec loaded[kDots];
    load_quad(weights, loaded);
    sums.add(loaded, x, stride);
  }
}

// A single row leaves registers free for a second set of sums, so that a step need not wait for the sum of the
// previous one.
template <class Stored>
inline void add_quads(LongSums<1>& sums, const Stored* weights, std::size_t quads, const Quantum* x,
                      std::size_t) {
  constexpr std::size_t kFew = 32;  // trip count short enough for branch prediction
  LongSums<1> odd;
  while (quads > 0) {
    const std::size_t few = std::min(quads, kFew);
    quads -= few;
    for (std::size_t quad = 0; quad < few; quad += 2) {
      WeightVec loaded[kDots];
      load_quad(weights, loaded);
      sums.add(loaded, x, 0);
      load_quad(weights + kQuadBytes, loaded);
      (kHalves == 1 ? sums : odd).add(loaded, x + 4 * kHalves, 0);
      weights += 2 * kQuadBytes;
      x += 8 * kHalves;
    }
  }
  for (std::size_t half = 0; half < kHalves; ++half) {
    for (std::size_t d = 0; d < kDots; ++d) {
      sums.halves[half].lanes[0][d] += odd.halves[half].lanes[0][d];
    }
  }
}

// q4: one group of four inputs.
template <std::size_t Rows>
inline void add_quad(Sums<Rows>& sums, const WeightVec (&weights)[kDots], const Quantum* x,
                     std::size_t stride) {
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto inputs = repeat_four(x + r * stride);
#pragma GCC unroll 16
    for (std::size_t d = 0; d < kDots; ++d) {
      sums.lanes[r][d] = dot(sums.lanes[r][d], weights[d], inputs);
    }
  }
}

template <std::size_t Rows>
inline void add_block(Sums<Rows>& sums, const WideWeight* weights, const Quantum* x,
                      std::size_t stride) {
  for (std::size_t quad = 0; quad < kQuads; ++quad, weights += kQuadBytes, x += 4) {
    WeightVec loaded[kDots];
    load_quad(weights, loaded);
    add_quad(sums, loaded, x, stride);
  }
}

template <std::size_t Rows>
inline void add_nibbles(Sums<Rows>& sums, const unsigned char* nibbles, const Quantum* x,
                        std::size_t stride) {
#pragma GCC unroll 8
  for (std::size_t quad = 0; quad < kQuads; ++quad) {
    WeightVec loaded[kDots];
    load_nibbles(nibbles + quad * kQuadBytes / 2, loaded);
    add_quad(sums, loaded, x + quad * 4, stride);
  }
}

struct Panel {
  const QuantizedMatmulArgs& args;
  const QuantizedRows& rows;
  const Destination& to;
  std::size_t index;
  const unsigned char* bytes;
};

// Scales the totals of all blocks by the rows' scales and writes them.
template <std::size_t Rows>
inline void write_totals(const Panel& panel, std::size_t row,
                         const Vec (&totals)[Rows][kTileVectors]) {
  Destination::Tile<Rows> tile;
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      tile.sums[r][v] = totals[r][v] * Vec(panel.rows.scales[row + r]);
    }
  }
  panel.to.write(row, panel.index, tile);
}

// Calls add(inputs, bytes) for each block of a q8 panel, with its number of inputs and its first byte.
template <class Add>
inline void for_each_block8(const Panel& panel, Add add) {
  const unsigned char* bytes = panel.bytes;
  std::size_t left = panel.rows.blocks * kInputBlock;
  while (left > 0) {
    const std::size_t inputs = std::min(panel.args.block, left);
    add(inputs, bytes);
    bytes += inputs * kWidth + kScaleBytes8;
    left -= inputs;
  }
}

// Adds a block's products to the totals (Rows, W). `scales`: the block's scales, followed by the sums of its
// weights.
template <std::size_t Rows, class Stored>
[[gnu::always_inline]] inline void add_block8(const Stored* weights, std::size_t quads,
                                              const Quantum* x, std::size_t stride,
                                              const float* scales, Vec* totals) {
  LongSums<Rows> sums;
  add_quads(sums, weights, quads, x, stride);
  sums.settle();
  const auto* of_weights = reinterpret_cast<const std::int32_t*>(scales + kWidth);
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kTileVectors; ++v) {
    const Vec scale = load(scales + v * kLanes);
    const IntVec offset = IntVec::load_unaligned(of_weights + v * kLanes) * IntVec(kInputOffset);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      Vec& total = totals[r * kTileVectors + v];
      total = multiply_add(to_float(sums.outputs(r, v, offset)), scale, total);
    }
  }
}

// The same, not inlined: large tiles leave no registers for totals.
template <std::size_t Rows, class Stored>
CLEARFORMER_LOOP void add_block8_apart(const Stored* weights, std::size_t quads, const Quantum* x,
                                       std::size_t stride, const float* scales, Vec* totals) {
  add_block8<Rows>(weights, quads, x, stride, scales, totals);
}

// `weights` are the panel's bytes, with the scales between the blocks, or already widened, without scales.
template <std::size_t Rows, class Stored>
CLEARFORMER_LOOP void tile8(const Panel& panel, const Stored* weights, std::size_t row) {
  constexpr bool kApart = kHalves > 1 && Rows > 2;
  constexpr std::size_t kBetween = sizeof(Stored) == 1 ? kScaleBytes8 : 0;
  const QuantizedRows& rows = panel.rows;
  Vec totals[Rows][kTileVectors];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kTileVectors; ++v) totals[r][v] = Vec(0.0f);
  }
  const Quantum* x = rows.values + row * rows.stride;
  for_each_block8(panel, [&](std::size_t inputs, const unsigned char* bytes) {
    constexpr auto kAdd = kApart ? add_block8_apart<Rows, Stored> : add_block8<Rows, Stored>;
    const auto* scales = reinterpret_cast<const float*>(bytes + inputs * kWidth);
    kAdd(weights, inputs / 4, x, rows.stride, scales, totals[0]);
    weights += inputs * kWidth + kBetween;
    x += inputs * kHalves;
  });
  write_totals<Rows>(panel, row, totals);
}

// add(sums, block, x) accumulates a block's products.
template <std::size_t Rows, class Add>
CLEARFORMER_LOOP void tile4(const Panel& panel, std::size_t row, Add add) {
  const QuantizedRows& rows = panel.rows;
  Vec totals[Rows][kTileVectors];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kTileVectors; ++v) totals[r][v] = Vec(0.0f);
  }
  const Quantum* x = rows.values + row * rows.stride;
  for (std::size_t block = 0; block < rows.blocks; ++block, x += kInputBlock) {
    Sums<Rows> sums;
    add(sums, block, x);
    const unsigned char* end = panel.bytes + block * kBlockBytes4 + kNibbleBytes;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      const Vec scale = load_bf16(reinterpret_cast<const std::uint16_t*>(end) + v * kLanes);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::int32_t correction = rows.corrections[(row + r) * rows.blocks + block];
        const Vec sum = to_float(sums.outputs(r, v) + IntVec(correction));
        totals[r][v] = multiply_add(sum, scale, totals[r][v]);
      }
    }
  }
  write_totals<Rows>(panel, row, totals);
}

void multiply_panel8(const Panel& panel) {
  const std::size_t rows = panel.args.m;
#if !CLEARFORMER_DOT_OF_BYTES
  if (rows >= kUnpackFrom) {
    auto* wide = static_cast<WideWeight*>(panel.args.workspace);
    auto* to = wide;
    for_each_block8(panel, [&](std::size_t inputs, const unsigned char* bytes) {
      const unsigned char* end = bytes + inputs * kWidth;
      for (; bytes < end; bytes += kRegister, to += kRegister) {
        load_weights(bytes).store_aligned(to);
      }
    });
    return for_each_tile<kDotRows>(0, rows, [&]<std::size_t Rows>(std::size_t row) {
      tile8<Rows>(panel, static_cast<const WideWeight*>(wide), row);
    });
  }
#endif
  for_each_tile<kDotRows>(
      0, rows, [&]<std::size_t Rows>(std::size_t row) { tile8<Rows>(panel, panel.bytes, row); });
}

void multiply_panel4(const Panel& panel) {
  constexpr std::size_t kRows = kDotsPerVector == 1 ? 3 : 2;  // integer sums and float totals
  const std::size_t stride = panel.rows.stride;
  if (panel.args.m < kUnpackFrom) {
    return for_each_tile<1>(0, panel.args.m, [&]<std::size_t Rows>(std::size_t row) {
      tile4<Rows>(panel, row, [&](Sums<Rows>& sums, std::size_t block, const Quantum* x) {
        add_nibbles(sums, panel.bytes + block * kBlockBytes4, x, stride);
      });
    });
  }
  auto* wide = static_cast<WideWeight*>(panel.args.workspace);
  for (std::size_t block = 0; block < panel.rows.blocks; ++block) {
    const unsigned char* nibbles = panel.bytes + block * kBlockBytes4;
    WideWeight* to = wide + block * kQuads * kQuadBytes;
    for (std::size_t quad = 0; quad < kQuads; ++quad, nibbles += kQuadBytes / 2, to += kQuadBytes) {
      WeightVec loaded[kDots];
      load_nibbles(nibbles, loaded);
      for (std::size_t d = 0; d < kDots; ++d) loaded[d].store_aligned(to + d * kRegister);
    }
  }
  for_each_tile<kRows>(0, panel.args.m, [&]<std::size_t Rows>(std::size_t row) {
    tile4<Rows>(panel, row, [&](Sums<Rows>& sums, std::size_t block, const Quantum* x) {
      add_block(sums, wide + block * kQuads * kQuadBytes, x, stride);
    });
  });
}

void multiply_panel16(const QuantizedMatmulArgs& args, const Destination& to, std::size_t panel,
                      const std::uint16_t* halves) {
  const FloatRows rows{args.x, args.x_stride, args.m, args.k};
  if (args.m < kUnpackFrom) {
    return for_each_tile<kUnpackFrom - 1>(0, args.m, [&]<std::size_t Rows>(std::size_t row) {
      multiply_tile<Rows>(rows, row, halves, to, panel);
    });
  }
  auto* wide = static_cast<float*>(args.workspace);
  for (std::size_t i = 0; i < args.k * kWidth; i += kWidth) {
    Vec columns[kTileVectors];
    load_columns(halves + i, columns);
    for (std::size_t v = 0; v < kTileVectors; ++v) store(wide + i + v * kLanes, columns[v]);
  }
  multiply_panel(rows, wide, to, panel);
}

}  // namespace

std::size_t panel_bytes(PanelFormat format, std::size_t k, std::size_t block) {
  switch (format) {
    case PanelFormat::f16: return k * kWidth * 2;
    case PanelFormat::q8:
      return blocks_of(k) * kInputBlock * kWidth + (k + block - 1) / block * kScaleBytes8;
    case PanelFormat::q4: return blocks_of(k) * kBlockBytes4;
  }
  return 0;
}

std::size_t panel_workspace_bytes(PanelFormat format, std::size_t k) {
  if (format == PanelFormat::f16) return k * kWidth * sizeof(float);
  return blocks_of(k) * kInputBlock * kWidth * sizeof(WideWeight);
}

void matmul16(const QuantizedMatmulArgs& args, const Destination& to) {
  const auto* halves = reinterpret_cast<const std::uint16_t*>(args.panels);
  const std::size_t stride = args.k * kWidth;
  if (args.m == 1) {
    return multiply_single_row({args.x, args.x_stride, 1, args.k}, halves, stride, to);
  }
  for_each_panel(to, args.m, [&]<std::size_t>(std::size_t panel) {
    multiply_panel16(args, to, panel, halves + panel * stride);
  });
}

void quantized_matmul(const QuantizedMatmulArgs& args) {
  const Destination to{args.epilogue, args.c, args.c_stride, args.n};
  if (args.format == PanelFormat::f16) return matmul16(args, to);
  const QuantizedRows rows(args);
  const std::size_t bytes = panel_bytes(args.format, args.k, args.block);
  for_each_panel(to, args.m, [&]<std::size_t>(std::size_t index) {
    const Panel panel{args, rows, to, index, args.panels + index * bytes};
    args.format == PanelFormat::q8 ? multiply_panel8(panel) : multiply_panel4(panel);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
