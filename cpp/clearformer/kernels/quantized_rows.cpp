#include "clearformer/kernels/quantized_rows.h"

#include <bit>
#include <cfloat>
#include <cmath>

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

namespace {

// The largest magnitude of a row; NaN if an element is not finite. Without the sign bit, floats are ordered as their
// bits are, with infinities and NaNs last.
float magnitude_of(const float* x, std::size_t count) {
  constexpr std::int32_t kInfinity = 0x7f800000;
  IntVec largest(0);
  for_each(count, [&](std::size_t i, auto lanes) {
    const Vec magnitude = xsimd::abs(load(x + i, lanes));
    largest = xsimd::max(largest, xsimd::bitwise_cast<std::int32_t>(magnitude));
  });
  const std::int32_t bits = xsimd::reduce_max(largest);
  return bits < kInfinity ? std::bit_cast<float>(bits) : NAN;
}

// Rounds kInputBlock floats; for q4, returns the sum of the integers.
template <PanelFormat format>
CLEARFORMER_LOOP std::int32_t quantize_block(const float* x, Vec inverse, Quantum* to) {
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding and subtracting it rounds a float
  constexpr std::int32_t kOffset = format == PanelFormat::q8 ? kInputOffset : 0;
  const IntVec zero(std::bit_cast<std::int32_t>(kRound) - kOffset);
  IntVec numbers[kInputBlock / kLanes], sums(0);
  for (std::size_t v = 0; v < kInputBlock / kLanes; ++v) {
    const Vec rounded = load(x + v * kLanes) * inverse + Vec(kRound);
    numbers[v] = xsimd::bitwise_cast<std::int32_t>(rounded) - zero;
    sums += numbers[v];
  }
  if constexpr (format == PanelFormat::q8) {
    store_long_quanta(to, numbers);
    return 0;
  } else {
    store_quanta(to, numbers);
    return xsimd::reduce_add(sums);
  }
}

void quantize_row(const QuantizedMatmulArgs& args, const QuantizedRows& rows, std::size_t row) {
  const bool long_quanta = args.format == PanelFormat::q8;
  const float* x = args.x + row * args.x_stride;
  const float magnitude = magnitude_of(x, args.k), limit = long_quanta ? 2047.0f : 127.0f;
  rows.scales[row] = magnitude / limit;
  const Vec inverse(magnitude > FLT_MIN ? limit / magnitude : 0.0f);
  const auto quantize = [&](std::size_t block, const float* from) {
    Quantum* to = rows.values + row * rows.stride + block * (rows.stride / rows.blocks);
    if (long_quanta) {
      quantize_block<PanelFormat::q8>(from, inverse, to);
    } else {
      // Unsigned: rows with infinities have any sum.
      const auto sum =
          static_cast<std::uint32_t>(quantize_block<PanelFormat::q4>(from, inverse, to));
      rows.corrections[row * rows.blocks + block] = static_cast<std::int32_t>(-8u * sum);
    }
  };
  const std::size_t whole = args.k / kInputBlock;
  for (std::size_t block = 0; block < whole; ++block) quantize(block, x + block * kInputBlock);
  if (whole == rows.blocks) return;
  float padded[kInputBlock] = {};
  std::copy(x + whole * kInputBlock, x + args.k, padded);
  quantize(whole, padded);
}

}  // namespace

std::size_t quantized_row_bytes(std::size_t rows, std::size_t k) {
  return aligned(rows * blocks_of(k) * kInputBlock * sizeof(Quantum) * kHalves) +
         aligned(rows * sizeof(float)) + aligned(rows * blocks_of(k) * sizeof(std::int32_t));
}

void quantize_rows(const QuantizedMatmulArgs& args, std::size_t first, std::size_t end) {
  const QuantizedRows rows(args);
  for (std::size_t row = first; row < end; ++row) quantize_row(args, rows, row);
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
