#include "clearformer/kernels/quantized_rows.h"

#include <bit>
#include <cmath>
#include <type_traits>

namespace clearformer::kernels::CLEARFORMER_TARGET {

namespace {

constexpr std::size_t kRegisters = kBlock / kLanes;
// Registers that are transformed together: half of a target's sixteen, so that all stay in registers.
constexpr std::size_t kHeld = std::min<std::size_t>(kRegisters, 8);

// A rotated block without the rotation's scale, and its largest magnitude: NaN if an element is not finite. Without the
// sign bit, floats are ordered as their bits are, with infinities and NaNs last.
CLEARFORMER_LOOP float rotate(const float* x, float* to) {
  IntVec largest(0);
  const auto keep = [&](std::size_t v, Vec number) {
    largest = max(largest, bitwise_cast<std::int32_t>(abs(number)));
    store(to + v * kLanes, number);
  };
#pragma GCC unroll 1
  for (std::size_t first = 0; first < kRegisters; first += kHeld) {
    Vec numbers[kHeld];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kHeld; ++v) {
      numbers[v] = hadamard_lanes(load(x + (first + v) * kLanes));
    }
    hadamard(numbers);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kHeld; ++v) {
      if constexpr (kHeld == kRegisters) {
        keep(v, numbers[v]);
      } else {
        store(to + (first + v) * kLanes, numbers[v]);
      }
    }
  }
  if constexpr (kHeld != kRegisters) {
#pragma GCC unroll 1
    for (std::size_t v = 0; v < kHeld; ++v) {
      const Vec low = load(to + v * kLanes), high = load(to + (v + kHeld) * kLanes);
      keep(v, low + high);
      keep(v + kHeld, low - high);
    }
  }
  constexpr std::int32_t kInfinity = 0x7f800000;
  const std::int32_t bits = reduce_max(largest);
  return bits < kInfinity ? std::bit_cast<float>(bits) : NAN;
}

// Rounds 32 floats and stores them in steps; returns the sum of the integers.
template <class Dot, PanelFormat format>
inline IntVec quantize(const float* x, Vec inverse, unsigned char* to, std::size_t step_bytes) {
  constexpr Rounding kRounding = rounding_of<Dot>(format);
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding and subtracting it rounds a float
  constexpr std::size_t kCount = 32;
  const IntVec zero(std::bit_cast<std::int32_t>(kRound) -
                    static_cast<std::int32_t>(kRounding.offset));
  IntVec numbers[kCount / kLanes], sums(0);
  for (std::size_t v = 0; v < kCount / kLanes; ++v) {
    const Vec rounded = load(x + v * kLanes) * inverse + Vec(kRound);
    numbers[v] = bitwise_cast<std::int32_t>(rounded) - zero;
    if constexpr (kRounding.corrected) sums += numbers[v];
  }
  const auto store_half = [&](std::size_t half) {
    alignas(64) typename Dot::Quantum quanta[kCount];
    Dot::store_quanta(quanta, numbers);
    for (std::size_t i = 0; i < kCount / Dot::kStep; ++i) {
      std::memcpy(to + i * step_bytes + 4 * half, quanta + i * Dot::kStep, 4);
    }
  };
  if constexpr (kRounding.halves == 1) {
    store_half(0);
  } else {
    IntVec lower[kCount / kLanes];
    for (std::size_t v = 0; v < kCount / kLanes; ++v) {
      lower[v] = numbers[v] & IntVec(63);
      numbers[v] = numbers[v] >> 6;
    }
    store_half(0);
    std::copy(lower, lower + kCount / kLanes, numbers);
    store_half(1);
  }
  return sums;
}

// The correction of q4 for the sums of a block's integers: lane i has those of position i % kStep of a step.
template <class Dot>
inline std::uint32_t correction_of(IntVec sums) {
#if CLEARFORMER_DOT_OF_PAIRS
  if constexpr (std::is_same_v<Dot, PairDot>) {
    alignas(64) std::uint32_t of[kLanes];
    bitwise_cast<std::uint32_t>(sums).store_aligned(of);
    std::uint32_t low = 0, high = 0;
    for (std::size_t i = 0; i < kLanes; i += 4) {
      low += of[i] + of[i + 1];
      high += of[i + 2] + of[i + 3];
    }
    return (-8u * low & 0xffff) | -8u * high << 16;
  }
#endif
  return -8u * sum(sums);
}

// Rounds a rotated block, into the group that starts at `to`.
template <class Dot, PanelFormat format>
inline void quantize_block(const float* rotated, float magnitude, unsigned char* to,
                           std::size_t index, const QuantizedRows& rows) {
  constexpr Rounding kRounding = rounding_of<Dot>(format);
  constexpr float kLimit = kRounding.limit, kSmallest = 1e-30f;
  constexpr std::size_t kPart = 32;
  const Vec inverse(magnitude > kSmallest ? kLimit / magnitude : 0.0f);
  IntVec sums(0);
#pragma GCC unroll 1
  for (std::size_t part = 0; part < kBlock; part += kPart) {
    unsigned char* steps = to + part / Dot::kStep * rows.step_bytes + 4 * kRounding.halves * index;
    sums += quantize<Dot, format>(rotated + part, inverse, steps, rows.step_bytes);
  }
  unsigned char* end = to + kSteps<Dot> * rows.step_bytes + 4 * index;
  const float scale = magnitude * (kRotationScale / kLimit);
  std::memcpy(end, &scale, sizeof scale);
  if constexpr (kRounding.corrected) {
    // Blocks with infinities have any sum.
    const std::uint32_t correction = correction_of<Dot>(sums);
    std::memcpy(end + 4 * rows.group, &correction, sizeof correction);
  }
}

// Rotates several blocks before it rounds them: a block's scale takes as long to compute as the rest of it, but not longer
// than those of its neighbours beside it.
template <class Dot, PanelFormat format>
void quantize_row(const QuantizedMatmulArgs& args, const QuantizedRows& rows, std::size_t row) {
  constexpr std::size_t kBlocks = 8;
  const float* x = args.x + row * args.x_stride;
  unsigned char* to = rows.group_of(row);
  alignas(64) float rotated[kBlocks][kBlock], padded[kBlock];
  float magnitudes[kBlocks];
  for (std::size_t first = 0; first < rows.blocks; first += kBlocks) {
    const std::size_t count = std::min(kBlocks, rows.blocks - first);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (first + i) * kBlock;
      const float* from = x + at;
      if (args.k - at < kBlock) {
        std::fill(std::copy(from, x + args.k, padded), padded + kBlock, 0.0f);
        from = padded;
      }
      magnitudes[i] = rotate(from, rotated[i]);
    }
    for (std::size_t i = 0; i < count; ++i, to += rows.block_bytes) {
      quantize_block<Dot, format>(rotated[i], magnitudes[i], to, rows.index_of(row), rows);
    }
  }
}

}  // namespace

std::size_t quantized_row_bytes(PanelFormat format, std::size_t rows, std::size_t k) {
  return with_dot(rows, [&]<class Dot>(Dot) {
    return (QuantizedRows(rounding_of<Dot>(format), rows, k, nullptr).bytes(rows) + 63) / 64 * 64;
  });
}

void quantize_rows(const QuantizedMatmulArgs& args, std::size_t first, std::size_t end) {
  with_dot(args.m, [&]<class Dot>(Dot) {
    const QuantizedRows rows(rounding_of<Dot>(args.format), args);
    for (std::size_t row = first; row < end; ++row) {
      switch (args.format) {  // of q4 only the corrections differ between the products
        case PanelFormat::q8_fine:
          quantize_row<PanelDot, PanelFormat::q8_fine>(args, rows, row);
          break;
        case PanelFormat::q4: quantize_row<Dot, PanelFormat::q4>(args, rows, row); break;
        default: quantize_row<PanelDot, PanelFormat::q8>(args, rows, row);
      }
    }
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
