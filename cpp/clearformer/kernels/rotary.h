// Rotary position embedding applied to one head vector.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// Rotates the pairs (x[i], x[i + half]), i < half, by the angles whose cosines and sines are given
/// (half each): the "halves" layout of Hugging Face checkpoints. Elements past 2·half are unchanged.
CLEARFORMER_KERNEL(void, rotate_halves, float* x, const float* cosines, const float* sines,
                   std::size_t half)

/// Rotates the pairs (x[2i], x[2i + 1]), i < pairs, likewise: the "interleaved" layout of the paper.
/// The same pairs and angles give the same bits as rotate_halves. Elements past 2·pairs are unchanged.
CLEARFORMER_KERNEL(void, rotate_interleaved, float* x, const float* cosines, const float* sines,
                   std::size_t pairs)

}  // namespace clearformer::kernels
