// Positional encoding: added to the embeddings so that attention depends on the order.
//   E(i, sine of pair j) = sin(i·f_j),  E(i, cosine of pair j) = cos(i·f_j)
//   f_j = base^(-2j/D), in the whisper layout base^(-j/(⌊D/2⌋ - 1))
// A shift by δ is a rotation of each pair, the same at every position:
//   [sin((i + δ)·f)]   [ cos δf  sin δf] [sin i·f]
//   [cos((i + δ)·f)] = [-sin δf  cos δf] [cos i·f]
// Source: Vaswani et al. 2017, section 3.5; learned tables: Gehring et al. 2017, arXiv 1705.03122.
// Shapes: B batch, T positions, D model, N rows of a learned table. Angles are computed in double:
// up to position 100,000 each element is the exact value rounded to float32, or its neighbour.
#pragma once

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The layout of sines and cosines. With odd D the last sine has no cosine; in the whisper layout the last element is 0.
enum class SinusoidLayout {
  interleaved,  // sin_0, cos_0, sin_1, cos_1, …: the paper, d2l.ai
  halves,       // all sines, then all cosines: Marian
  whisper,  // halves with a geometric series that reaches 1/base: Whisper, M2M100, tensor2tensor
};

/// The size and order of sinusoidal encodings.
struct SinusoidConfig {
  std::size_t d_model = 0;
  double base = 10000.0;
  SinusoidLayout layout = SinusoidLayout::interleaved;
};

/// Encodings (…, D) of positions (…) of int32, in any order and possibly negative.
Tensor sinusoidal_encoding(const TensorView& positions, const SinusoidConfig& config);

/// Encodings (T, D) of the positions first, first + 1, …, first + count - 1.
Tensor sinusoidal_table(std::int32_t first, std::size_t count, const SinusoidConfig& config);

/// M (D, D) with M·E(i) = E(i + delta) for every i. D must be even: a sine without its cosine does
/// not determine the shifted value.
Tensor shift_matrix(std::int32_t delta, const SinusoidConfig& config);

/// How many of the encodings of positions 0 … count - 1 are distinct in float32. A single sine soon comes close to
/// earlier values again; a pair does so much later.
std::size_t distinct_encodings(std::size_t count, const SinusoidConfig& config);

/// Rows of a learned table (N, D) at positions (…) of int32 -> (…, D). Throws invalid_argument for
/// a position outside [0, N).
Tensor learned_encoding(const TensorView& table, const TensorView& positions);

/// x (B, T, D) + encoding (T, D), (1, T, D) or (B, T, D), in place.
void add_encoding(const MutableTensorView& x, const TensorView& encoding);

}  // namespace clearformer
