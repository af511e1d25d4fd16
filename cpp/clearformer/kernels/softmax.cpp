#include "clearformer/kernels/softmax.h"

#include <limits>

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void softmax(float* x, std::size_t rows, std::size_t columns, std::size_t stride) {
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  for (std::size_t row = 0; row < rows; ++row, x += stride) {
    const Vec highest = fold(x, columns, kMinusInfinity, Vec(kMinusInfinity),
                             [](Vec state, Vec value) { return max(state, value); });
    const float top = max_lane(highest);
    if (top == kMinusInfinity) {
      for (std::size_t column = 0; column < columns; ++column) {
        if (x[column] == kMinusInfinity) x[column] = 0.0f;  // a NaN, which max may pass over, stays
      }
      continue;
    }
    const Vec shift(top);
    Vec total(0.0f);
    for_each(columns, [&](std::size_t i, auto lanes) {
      const Vec power = exp_of_difference(load(x + i, lanes, kMinusInfinity) - shift);
      store(x + i, lanes, power);
      total += power;
    });
    const Vec scale(1.0f / sum(total));
    transform(x, x, columns, [scale](Vec value) { return value * scale; });
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
