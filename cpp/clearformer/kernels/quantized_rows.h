// A product's inputs rounded to integers, as quantize_rows stores them for quantized_matmul. Included by kernel files
// only.
#pragma once

#include <algorithm>

#include "clearformer/kernels/float_tile.h"
#include "clearformer/kernels/quantized_matmul.h"
#include "clearformer/tensor/rotation.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

/// Steps of a block: each sums kStep inputs.
template <class Dot>
inline constexpr std::size_t kSteps = kBlock / Dot::kStep;

/// How a format rounds inputs.
struct Rounding {
  std::int32_t limit;  // the largest integer
  std::size_t halves;  // of an integer, which products of bytes take one by one
  std::uint32_t
      offset;      // a power of two added to make integers unsigned, and subtracted from sums; or 0
  bool corrected;  // q4: sums are corrected for the weights' offset
  std::size_t tile_rows;  // rows of a tile, whose inputs are interleaved
};

template <class Dot>
constexpr Rounding rounding_of(PanelFormat format) {
  constexpr std::size_t kFineHalves = Dot::kUnsignedInputs ? 2 : 1;
  switch (format) {
    case PanelFormat::q8_fine:
      return {4095, kFineHalves, Dot::kUnsignedInputs ? 4096u : 0, false, Dot::kFineRows};
    case PanelFormat::q4: return {127, 1, 0, true, Dot::kRows};
    default: return {63, 1, Dot::kUnsignedInputs ? 64u : 0, false, Dot::kRows};
  }
}

/// Calls work(Dot) with the product for that many rows. All bits are the same.
template <class Work>
inline auto with_dot([[maybe_unused]] std::size_t rows, Work work) {
#if CLEARFORMER_DOT_OF_PAIRS
  if ((rows == 1 || rows >= kWidenFrom) && pairs_are_faster()) return work(PairDot());
#endif
  return work(PanelDot());
}

/// Rows of inputs in groups of a tile's rows (the product's, if it has fewer), G. A group holds for each block, in the
/// order in which a tile reads them: for each step, each row and each half, kStep integers, which fill four bytes; G
/// float scales; for q4 G sums of the integers, times -8.
struct QuantizedRows {
  unsigned char* first;
  std::size_t group;        // G
  std::size_t step_bytes;   // of a group
  std::size_t block_bytes;  // of a group
  std::size_t blocks;       // of a row

  QuantizedRows(const Rounding& rounding, std::size_t rows, std::size_t k, void* memory)
      : first(static_cast<unsigned char*>(memory)), blocks(blocks_of(k)) {
    group = std::min(rounding.tile_rows, rows);
    step_bytes = 4 * group * rounding.halves;
    block_bytes = step_bytes * kSteps<PanelDot> + 4 * group * (rounding.corrected ? 2 : 1);
  }
  QuantizedRows(const Rounding& rounding, const QuantizedMatmulArgs& args)
      : QuantizedRows(rounding, args.m, args.k, args.rows) {}

  /// The group of a row, and the row's index in it.
  unsigned char* group_of(std::size_t row) const {
    return first + row / group * blocks * block_bytes;
  }
  std::size_t index_of(std::size_t row) const { return row % group; }
  std::size_t bytes(std::size_t rows) const {
    return (rows + group - 1) / group * blocks * block_bytes;
  }
};

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
