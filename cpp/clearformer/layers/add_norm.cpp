#include "clearformer/layers/add_norm.h"

#include "clearformer/kernels/elementwise.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

void AddNorm::add_to(const MutableTensorView& x, const TensorView& update) {
  constexpr std::size_t kWork = 4, kLanes = 64;  // cost of an addition; ranges of whole registers
  parallel_ranges(x.elements(), kWork, kLanes, [&](std::size_t first, std::size_t end) {
    float* const sum = x.f32() + first;
    kernels::add(sum, update.f32() + first, sum, end - first);
  });
}

}  // namespace clearformer
