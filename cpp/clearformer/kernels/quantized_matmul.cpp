#include "clearformer/kernels/quantized_matmul.h"

#include <cfloat>
#include <limits>

#include "clearformer/kernels/float_tile.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

namespace {

constexpr std::size_t kQuads = kInputBlock / 4;  // of a block
constexpr std::size_t kDots = kTileVectors * kDotsPerVector;
constexpr std::size_t kQuadBytes = kWidth * 4;             // four inputs of a panel
constexpr std::size_t kRegister = kQuadBytes / kDots;      // elements of one register of weights
constexpr std::size_t kNibbleBytes = kQuads * kWidth * 2;  // a block of q4 without its scales
constexpr std::size_t kBlockBytes4 = kNibbleBytes + 2 * kWidth;
constexpr std::size_t kUnpackFrom = 3;  // rows that make it worth while to unpack a panel first

std::size_t blocks_of(std::size_t k) { return (k + kInputBlock - 1) / kInputBlock; }
std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// The rounded inputs: bytes (or 16 bits) (M, K'), a scale for each row, and what is added to the
// sums because weights are stored with an offset: -offset · Σ x̂, for each block of each row (q8: for
// the whole row).
struct QuantizedRows {
  Quantum* values;
  float* scales;
  std::int32_t* corrections;
  std::size_t stride, blocks;

  explicit QuantizedRows(const QuantizedMatmulArgs& args)
      : stride(blocks_of(args.k) * kInputBlock),
        blocks(args.format == PanelFormat::q4 ? blocks_of(args.k) : 1) {
    char* at = static_cast<char*>(args.rows);
    values = reinterpret_cast<Quantum*>(at);
    at += aligned(args.m * stride * sizeof(Quantum));
    scales = reinterpret_cast<float*>(at);
    corrections = reinterpret_cast<std::int32_t*>(at + aligned(args.m * sizeof(float)));
  }
};

// The largest magnitude of a row; NaN when one of its elements is not finite.
float magnitude_of(const float* x, std::size_t count) {
  Vec largest(0.0f), finite(0.0f);
  for_each(count, [&](std::size_t i, auto lanes) {
    const Vec value = load(x + i, lanes);
    largest = max(largest, xsimd::abs(value));
    finite += value * Vec(0.0f);  // NaN once there was a NaN or an infinity
  });
  return max_lane(largest) + sum(finite);
}

void quantize_row(const QuantizedMatmulArgs& args, const QuantizedRows& rows, std::size_t row) {
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it leaves a float rounded, below it
  const IntVec bits_of_round = xsimd::bitwise_cast<std::int32_t>(Vec(kRound));
  const float* x = args.x + row * args.x_stride;
  const float magnitude = magnitude_of(x, args.k);
  rows.scales[row] = magnitude / 127.0f;
  const Vec inverse(magnitude > FLT_MIN ? 127.0f / magnitude : 0.0f);
  Quantum* to = rows.values + row * rows.stride;
  std::int32_t total = 0;
  for (std::size_t block = 0; block < blocks_of(args.k); ++block) {
    IntVec numbers[kInputBlock / kLanes], sums(0);
    for (std::size_t v = 0; v < kInputBlock / kLanes; ++v) {
      const std::size_t i = block * kInputBlock + v * kLanes;
      Vec value(0.0f);
      if (i + kLanes <= args.k) {
        value = load(x + i);
      } else if (i < args.k) {
        value = load_partial(x + i, args.k - i);
      }
      const Vec rounded = value * inverse + Vec(kRound);
      numbers[v] = xsimd::bitwise_cast<std::int32_t>(rounded) - bits_of_round;
      sums += numbers[v];
    }
    store_quanta(to + block * kInputBlock, numbers);
    const std::int32_t sum = xsimd::reduce_add(sums);
    total += sum;
    if (rows.blocks != 1 || blocks_of(args.k) == 1) {
      rows.corrections[row * rows.blocks + block] = sum;
    }
  }
  const std::int32_t offset = args.format == PanelFormat::q4 ? -8 : -64;
  if (args.format == PanelFormat::q8) rows.corrections[row] = total;
  for (std::size_t i = 0; i < rows.blocks; ++i) rows.corrections[row * rows.blocks + i] *= offset;
}

template <std::size_t Rows>
struct Sums {
  IntVec lanes[Rows][kDots];

  void clear() {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t d = 0; d < kDots; ++d) lanes[r][d] = IntVec(0);
    }
  }
  // One step down the depth: the weights of four inputs.
  template <class Weights>
  void add(const Weights (&weights)[kDots], const Quantum* x, std::size_t stride) {
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto inputs = repeat_four(x + r * stride);
      for (std::size_t d = 0; d < kDots; ++d) lanes[r][d] = dot(lanes[r][d], weights[d], inputs);
    }
  }
  Vec output(std::size_t r, std::size_t v, std::int32_t correction) const {
    return to_float(outputs_of(&lanes[r][v * kDotsPerVector]) + IntVec(correction));
  }
};

using WeightVec = decltype(load_weights(static_cast<const WideWeight*>(nullptr)));

template <std::size_t Rows, class Stored>
inline void add_quads(Sums<Rows>& sums, const Stored* weights, std::size_t quads, const Quantum* x,
                      std::size_t stride) {
  for (std::size_t quad = 0; quad < quads; ++quad, weights += kQuadBytes, x += 4) {
    WeightVec loaded[kDots];
    for (std::size_t d = 0; d < kDots; ++d) loaded[d] = load_weights(weights + d * kRegister);
    sums.add(loaded, x, stride);
  }
}

// A single row leaves registers free: several inputs at a time and, where each step has to wait for
// the sum before, two sums for each output.
template <class Stored>
inline void add_quads(Sums<1>& sums, const Stored* weights, std::size_t quads, const Quantum* x,
                      std::size_t) {
  constexpr std::size_t kAtOnce = 4, kSets = CLEARFORMER_DOT_OF_BYTES ? 2 : 1;
  Sums<1> sets[kSets];
  for (Sums<1>& set : sets) set.clear();
  for (std::size_t quad = 0; quad < quads; quad += kAtOnce) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      WeightVec loaded[kDots];
      for (std::size_t d = 0; d < kDots; ++d) {
        loaded[d] = load_weights(weights + i * kQuadBytes + d * kRegister);
      }
      sets[i % kSets].add(loaded, x + i * 4, 0);
    }
    weights += kAtOnce * kQuadBytes;
    x += kAtOnce * 4;
  }
  for (std::size_t d = 0; d < kDots; ++d) {
    for (const Sums<1>& set : sets) sums.lanes[0][d] += set.lanes[0][d];
  }
}

template <std::size_t Rows>
inline void add_nibbles(Sums<Rows>& sums, const unsigned char* nibbles, const Quantum* x,
                        std::size_t stride) {
#pragma GCC unroll 8
  for (std::size_t quad = 0; quad < kQuads; ++quad) {
    WeightVec loaded[kDots];
    load_nibbles(nibbles + quad * kQuadBytes / 2, loaded);
    sums.add(loaded, x + quad * 4, stride);
  }
}

struct Panel {
  const QuantizedMatmulArgs& args;
  const QuantizedRows& rows;
  const Destination& to;
  std::size_t index;
  const unsigned char* bytes;
};

template <std::size_t Rows, class Stored>
CLEARFORMER_LOOP void tile8(const Panel& panel, const Stored* weights, std::size_t row) {
  const QuantizedRows& rows = panel.rows;
  Sums<Rows> sums;
  sums.clear();
  add_quads(sums, weights, rows.stride / 4, rows.values + row * rows.stride, rows.stride);
  const auto* scales = reinterpret_cast<const float*>(panel.bytes + rows.stride * kWidth);
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      const Vec sum = sums.output(r, v, rows.corrections[row + r]);
      const Vec scaled = sum * load(scales + v * kLanes) * Vec(rows.scales[row + r]);
      panel.to.write(row + r, panel.index, v, scaled);
    }
  }
}

// add(sums, block, x) adds a block's products.
template <std::size_t Rows, class Add>
CLEARFORMER_LOOP void tile4(const Panel& panel, std::size_t row, Add add) {
  const QuantizedRows& rows = panel.rows;
  Vec totals[Rows][kTileVectors];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) totals[r][v] = Vec(0.0f);
  }
  const Quantum* x = rows.values + row * rows.stride;
  for (std::size_t block = 0; block < rows.blocks; ++block, x += kInputBlock) {
    Sums<Rows> sums;
    sums.clear();
    add(sums, block, x);
    const unsigned char* end = panel.bytes + block * kBlockBytes4 + kNibbleBytes;
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      const Vec scale = load_bf16(reinterpret_cast<const std::uint16_t*>(end) + v * kLanes);
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::int32_t correction = rows.corrections[(row + r) * rows.blocks + block];
        totals[r][v] = multiply_add(sums.output(r, v, correction), scale, totals[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      panel.to.write(row + r, panel.index, v, totals[r][v] * Vec(rows.scales[row + r]));
    }
  }
}

void multiply_panel8(const Panel& panel) {
  const std::size_t rows = panel.args.m;
#if !CLEARFORMER_DOT_OF_BYTES
  if (rows >= kUnpackFrom) {
    auto* wide = static_cast<WideWeight*>(panel.args.workspace);
    for (std::size_t i = 0; i < panel.rows.stride * kWidth; i += kRegister) {
      load_weights(panel.bytes + i).store_aligned(wide + i);
    }
    return for_each_tile<kDotRows>(0, rows, [&]<std::size_t Rows>(std::size_t row) {
      tile8<Rows>(panel, static_cast<const WideWeight*>(wide), row);
    });
  }
#endif
  for_each_tile<kDotRows>(
      0, rows, [&]<std::size_t Rows>(std::size_t row) { tile8<Rows>(panel, panel.bytes, row); });
}

void multiply_panel4(const Panel& panel) {
  constexpr std::size_t kRows = kDotRows >= 6 ? 3 : 2;  // sums in integers and in floats
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
      add_quads(sums, wide + block * kQuads * kQuadBytes, kQuads, x, stride);
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

std::size_t panel_bytes(PanelFormat format, std::size_t k) {
  switch (format) {
    case PanelFormat::f16: return k * kWidth * 2;
    case PanelFormat::q8: return (blocks_of(k) * kInputBlock + sizeof(float)) * kWidth;
    case PanelFormat::q4: return blocks_of(k) * kBlockBytes4;
  }
  return 0;
}

std::size_t quantized_row_bytes(std::size_t rows, std::size_t k) {
  return aligned(rows * blocks_of(k) * kInputBlock * sizeof(Quantum)) +
         aligned(rows * sizeof(float)) + aligned(rows * blocks_of(k) * sizeof(std::int32_t));
}

std::size_t panel_workspace_bytes(PanelFormat format, std::size_t k) {
  if (format == PanelFormat::f16) return k * kWidth * sizeof(float);
  return blocks_of(k) * kInputBlock * kWidth * sizeof(WideWeight);
}

void quantize_rows(const QuantizedMatmulArgs& args) {
  const QuantizedRows rows(args);
  for (std::size_t row = 0; row < args.m; ++row) quantize_row(args, rows, row);
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
  const std::size_t bytes = panel_bytes(args.format, args.k);
  for_each_panel(to, args.m, [&]<std::size_t>(std::size_t index) {
    const Panel panel{args, rows, to, index, args.panels + index * bytes};
    args.format == PanelFormat::q8 ? multiply_panel8(panel) : multiply_panel4(panel);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
