// Online softmax: softmax over scores that arrive in blocks, with the weighted sum of values
// (Milakov & Gimelshein 2018, arXiv 1805.02867; Rabe & Staats 2021, arXiv 2112.05682).
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// A block of scores for some rows, and the state carried from block to block: the running maximum, the running sum
/// of exp(score - highest), and the output, the values weighted by the same exponentials.
struct OnlineSoftmaxArgs {
  float* scores = nullptr;  // (rows, columns), rows score_stride floats apart
  std::size_t score_stride = 0;
  std::size_t rows = 0, columns = 0;
  float* highest = nullptr;  // (rows)
  float* total = nullptr;    // (rows)
  float* output = nullptr;   // (rows, width), rows output_stride floats apart
  std::size_t output_stride = 0, width = 0;
};

/// The first block: initialises highest and total, leaves the output alone.
/// Scores become exp(score - highest); -inf becomes 0, also in a row that is -inf throughout.
CLEARFORMER_KERNEL(void, begin_online_softmax, const OnlineSoftmaxArgs& args)

/// A later block: where a row's maximum rises, its total and output are rescaled.
CLEARFORMER_KERNEL(void, continue_online_softmax, const OnlineSoftmaxArgs& args)

/// After the last block: output[r, :] = output[r, :] / total[r], or 0 where all scores were -inf.
CLEARFORMER_KERNEL(void, end_online_softmax, const OnlineSoftmaxArgs& args)

}  // namespace clearformer::kernels
