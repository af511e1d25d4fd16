// Softmax over scores that come in blocks, with the weighted sum of values that follows it (online
// softmax: Milakov & Gimelshein 2018, arXiv 1805.02867; Rabe & Staats 2021, arXiv 2112.05682).
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// One more block of scores for some rows. What is kept from block to block: the highest score so
/// far, the total of exp(score - highest), and the output, the sum of values so weighted.
struct OnlineSoftmaxArgs {
  float* scores = nullptr;  // (rows, columns), rows score_stride floats apart
  std::size_t score_stride = 0;
  std::size_t rows = 0, columns = 0;
  float* highest = nullptr;  // (rows)
  float* total = nullptr;    // (rows)
  float* output = nullptr;   // (rows, width), rows output_stride floats apart
  std::size_t output_stride = 0, width = 0;
};

/// The first block: starts highest and total; the output is not touched.
/// scores become exp(score - highest); -inf becomes 0 also where all of a row are.
CLEARFORMER_KERNEL(void, begin_online_softmax, const OnlineSoftmaxArgs& args)

/// A later block: where a row's highest score rises, its total and output are scaled down to it.
CLEARFORMER_KERNEL(void, continue_online_softmax, const OnlineSoftmaxArgs& args)

/// After the last: output[r, :] = output[r, :] / total[r], 0 where no score was above -inf.
CLEARFORMER_KERNEL(void, end_online_softmax, const OnlineSoftmaxArgs& args)

}  // namespace clearformer::kernels
