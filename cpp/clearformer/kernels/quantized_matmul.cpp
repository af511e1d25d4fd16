#include "clearformer/kernels/quantized_matmul.h"

#include <cfloat>

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

// The rounded inputs (M, K'), a scale for each row and, for q4, what is added to the sums because
// weights are stored with an offset: -8 · Σ x̂ for each block of each row.
struct QuantizedRows {
  Quantum* values;
  float* scales;
  std::int32_t* corrections;
  std::size_t stride, blocks;

  explicit QuantizedRows(const QuantizedMatmulArgs& args)
      : stride(blocks_of(args.k) * kInputBlock * (args.format == PanelFormat::q8 ? kHalves : 1)),
        blocks(blocks_of(args.k)) {
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

// Rounds kInputBlock floats; returns the sum of what they become.
CLEARFORMER_LOOP std::int32_t quantize_block(const float* x, Vec inverse, PanelFormat format,
                                             Quantum* to) {
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it leaves a float rounded, below it
  const IntVec bits_of_round = xsimd::bitwise_cast<std::int32_t>(Vec(kRound));
  IntVec numbers[kInputBlock / kLanes], sums(0);
  for (std::size_t v = 0; v < kInputBlock / kLanes; ++v) {
    const Vec rounded = load(x + v * kLanes) * inverse + Vec(kRound);
    numbers[v] = xsimd::bitwise_cast<std::int32_t>(rounded) - bits_of_round;
    sums += numbers[v];
  }
  format == PanelFormat::q8 ? store_long_quanta(to, numbers) : store_quanta(to, numbers);
  return xsimd::reduce_add(sums);
}

// The largest magnitude of a rounded input: the sums of products with bytes stay below 2^31.
float limit_of(const QuantizedMatmulArgs& args) {
  if (args.format == PanelFormat::q4) return 127.0f;
  constexpr std::size_t kLargest = 2047, kSums = (std::size_t{1} << 31) - 1;
  return static_cast<float>(std::min(kLargest, kSums / (127 * args.k)));
}

void quantize_row(const QuantizedMatmulArgs& args, const QuantizedRows& rows, std::size_t row) {
  const float* x = args.x + row * args.x_stride;
  const float magnitude = magnitude_of(x, args.k), limit = limit_of(args);
  rows.scales[row] = magnitude / limit;
  const Vec inverse(magnitude > FLT_MIN ? limit / magnitude : 0.0f);
  Quantum* to = rows.values + row * rows.stride;
  for (std::size_t block = 0; block < rows.blocks; ++block) {
    const std::size_t first = block * kInputBlock;
    float padded[kInputBlock] = {};
    const float* from = x + first;
    if (args.k - first < kInputBlock) {
      std::copy(from, x + args.k, padded);
      from = padded;
    }
    const std::int32_t sum =
        quantize_block(from, inverse, args.format, to + block * (rows.stride / rows.blocks));
    rows.corrections[row * rows.blocks + block] = -8 * sum;
  }
}

using WeightVec = decltype(load_weights(static_cast<const WideWeight*>(nullptr)));

template <std::size_t Rows>
struct Sums {
  IntVec lanes[Rows][kDots];

  Sums() {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t d = 0; d < kDots; ++d) lanes[r][d] = IntVec(0);
    }
  }
  IntVec outputs(std::size_t r, std::size_t v) const {
    return outputs_of(&lanes[r][v * kDotsPerVector]);
  }
};

template <class Stored>
inline void load_quad(const Stored* from, WeightVec (&weights)[kDots]) {
  for (std::size_t d = 0; d < kDots; ++d) weights[d] = load_weights(from + d * kRegister);
}

// Of q8: the products with both halves of the inputs, or with whole ones.
template <std::size_t Rows>
struct LongSums {
  Sums<Rows> halves[kHalves];

  void add(const WeightVec (&weights)[kDots], const Quantum* x, std::size_t stride) {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t half = 0; half < kHalves; ++half) {
        const auto inputs = repeat_four(x + r * stride + 4 * half);
        IntVec(&lanes)[kDots] = halves[half].lanes[r];
        for (std::size_t d = 0; d < kDots; ++d) lanes[d] = dot(lanes[d], inputs, weights[d]);
      }
    }
  }
  IntVec outputs(std::size_t r, std::size_t v, const std::int32_t* sums) const {
    if constexpr (kHalves == 1) {
      return halves[0].outputs(r, v);
    } else {
      const IntVec offset = IntVec::load_unaligned(sums + v * kLanes) * IntVec(kInputOffset);
      return (halves[0].outputs(r, v) << 6) + halves[1].outputs(r, v) - offset;
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

// A single row leaves registers free: a second set of sums, where a step would have to wait for the
// sum of the step before.
template <class Stored>
inline void add_quads(LongSums<1>& sums, const Stored* weights, std::size_t quads, const Quantum* x,
                      std::size_t) {
  LongSums<1> odd;
  for (std::size_t quad = 0; quad < quads; quad += 2) {
    WeightVec loaded[kDots];
    load_quad(weights, loaded);
    sums.add(loaded, x, 0);
    load_quad(weights + kQuadBytes, loaded);
    (kHalves == 1 ? sums : odd).add(loaded, x + 4 * kHalves, 0);
    weights += 2 * kQuadBytes;
    x += 8 * kHalves;
  }
  for (std::size_t half = 0; half < kHalves; ++half) {
    for (std::size_t d = 0; d < kDots; ++d) {
      sums.halves[half].lanes[0][d] += odd.halves[half].lanes[0][d];
    }
  }
}

// Of q4: one block.
template <std::size_t Rows>
inline void add_quad(Sums<Rows>& sums, const WeightVec (&weights)[kDots], const Quantum* x,
                     std::size_t stride) {
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto inputs = repeat_four(x + r * stride);
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

template <std::size_t Rows, class Stored>
CLEARFORMER_LOOP void tile8(const Panel& panel, const Stored* weights, std::size_t row) {
  const QuantizedRows& rows = panel.rows;
  LongSums<Rows> sums;
  add_quads(sums, weights, rows.blocks * kQuads, rows.values + row * rows.stride, rows.stride);
  const unsigned char* end = panel.bytes + rows.blocks * kInputBlock * kWidth;
  const auto* scales = reinterpret_cast<const float*>(end);
  const auto* of_weights = reinterpret_cast<const std::int32_t*>(scales + kWidth);
  Destination::Tile<Rows> tile;
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      const Vec sum = to_float(sums.outputs(r, v, of_weights));
      tile.sums[r][v] = sum * load(scales + v * kLanes) * Vec(rows.scales[row + r]);
    }
  }
  panel.to.write(row, panel.index, tile);
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
    add(sums, block, x);
    const unsigned char* end = panel.bytes + block * kBlockBytes4 + kNibbleBytes;
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      const Vec scale = load_bf16(reinterpret_cast<const std::uint16_t*>(end) + v * kLanes);
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::int32_t correction = rows.corrections[(row + r) * rows.blocks + block];
        const Vec sum = to_float(sums.outputs(r, v) + IntVec(correction));
        totals[r][v] = multiply_add(sum, scale, totals[r][v]);
      }
    }
  }
  Destination::Tile<Rows> tile;
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      tile.sums[r][v] = totals[r][v] * Vec(rows.scales[row + r]);
    }
  }
  panel.to.write(row, panel.index, tile);
}

void multiply_panel8(const Panel& panel) {
  const std::size_t rows = panel.args.m;
#if !CLEARFORMER_DOT_OF_BYTES
  if (rows >= kUnpackFrom) {
    auto* wide = static_cast<WideWeight*>(panel.args.workspace);
    for (std::size_t i = 0; i < panel.rows.blocks * kInputBlock * kWidth; i += kRegister) {
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
  constexpr std::size_t kRows = kDotsPerVector == 1 ? 3 : 2;  // sums in integers and in floats
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

std::size_t panel_bytes(PanelFormat format, std::size_t k) {
  switch (format) {
    case PanelFormat::f16: return k * kWidth * 2;
    case PanelFormat::q8:
      return (blocks_of(k) * kInputBlock + sizeof(float) + sizeof(std::int32_t)) * kWidth;
    case PanelFormat::q4: return blocks_of(k) * kBlockBytes4;
  }
  return 0;
}

std::size_t quantized_row_bytes(std::size_t rows, std::size_t k) {
  return aligned(rows * blocks_of(k) * kInputBlock * sizeof(Quantum) * kHalves) +
         aligned(rows * sizeof(float)) + aligned(rows * blocks_of(k) * sizeof(std::int32_t));
}

std::size_t panel_workspace_bytes(PanelFormat format, std::size_t k) {
  if (format == PanelFormat::f16) return k * kWidth * sizeof(float);
  return blocks_of(k) * kInputBlock * kWidth * sizeof(WideWeight);
}

void quantize_rows(const QuantizedMatmulArgs& args, std::size_t first, std::size_t end) {
  const QuantizedRows rows(args);
  for (std::size_t row = first; row < end; ++row) quantize_row(args, rows, row);
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
