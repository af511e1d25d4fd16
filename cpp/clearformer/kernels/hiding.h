// Masks scores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// scores[i] becomes -inf where (flags[i] != 0) equals (hidden != 0).
CLEARFORMER_KERNEL(void, hide_where, float* scores, const std::uint8_t* flags, std::size_t count,
                   std::uint8_t hidden)

}  // namespace clearformer::kernels
