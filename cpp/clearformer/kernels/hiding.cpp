#include "clearformer/kernels/hiding.h"

#include <limits>

#include "clearformer/simd/target.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

// The compiler vectorises this.
void hide_where(float* scores, const std::uint8_t* flags, std::size_t count, std::uint8_t hidden) {
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    // clang-tidy 14 takes the constant for a conversion: NOLINTNEXTLINE(bugprone-narrowing-conversions)
    scores[i] = (flags[i] != 0) == (hidden != 0) ? kMinusInfinity : scores[i];
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
