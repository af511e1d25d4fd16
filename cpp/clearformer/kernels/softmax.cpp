#include "clearformer/kernels/softmax.h"

#include "clearformer/kernels/online_softmax.h"
#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

// Online softmax over a single block.
void softmax(float* x, std::size_t rows, std::size_t columns, std::size_t stride) {
  for (std::size_t row = 0; row < rows; ++row, x += stride) {
    float highest, total;
    OnlineSoftmaxArgs args;
    args.scores = x;
    args.rows = 1;
    args.columns = columns;
    args.highest = &highest;
    args.total = &total;
    begin_online_softmax(args);
    if (total == 0.0f) continue;  // all -inf: zeros
    const Vec scale(1.0f / total);
    transform(x, x, columns, [scale](Vec value) { return value * scale; });
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
