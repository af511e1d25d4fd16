// A product's inputs rounded to integers, as quantize_rows stores them for quantized_matmul. Included by kernel files
// only.
#pragma once

#include "clearformer/kernels/quantized_matmul.h"
#include "clearformer/simd/integer.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

inline std::size_t blocks_of(std::size_t k) { return (k + kInputBlock - 1) / kInputBlock; }
inline std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// The rounded inputs (M, K'), a scale per row and, for q4, the correction for the weights' offset: -8 · Σ x̂ for each
// block of each row.
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

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
