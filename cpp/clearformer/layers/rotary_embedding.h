// Rotary position embedding: each pair (a, b) of a head vector is turned by an angle that grows with
// its position p,
//   a' = m·(a·cos(p·f_i) - b·sin(p·f_i)),  b' = m·(b·cos(p·f_i) + a·sin(p·f_i))
// so that the dot product of a query and a key depends on their distance alone. The frequencies f,
// the attention factor m and which elements make a pair: rotary_frequencies.h.
// Source: Su et al. 2021, arXiv 2104.09864; as one operation: ONNX RotaryEmbedding, opset 23.
// Shapes: B batch, T positions, H heads, d head size, r rotated dimensions.
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/heads.h"
#include "clearformer/layers/rotary_frequencies.h"

namespace clearformer {

/// Cosines and sines of one forward pass, shared by all its layers.
struct RotaryTable {
  TensorView cosines;  // (B, T, r/2), or (1, T, r/2) for all sequences
  TensorView sines;    // the same
  RotaryLayout layout = RotaryLayout::halves;
};

/// Rotary positions: the tables of cosines and sines, and their use.
class RotaryEmbedding {
 public:
  explicit RotaryEmbedding(RotaryConfig config);

  const RotaryConfig& config() const { return config_; }

  /// Angles in double for positions (B, T) of int32, times the attention factor; the table lives in
  /// the arena. Where the scaling depends on the length, that is the largest position plus one, anew
  /// in each call.
  RotaryTable table(const TensorView& positions, Arena& arena) const;

  /// x (B, H, T, d) turned by positions (B, T), (1, T) or (T) of int32.
  Tensor forward(const TensorView& x, TensorView positions) const;

  /// Turns x in place.
  static void rotate(const MutableHeads& x, const RotaryTable& table);
  /// Turns x (B, T, H, d) in place.
  static void rotate(const MutableTensorView& x, const RotaryTable& table) {
    rotate(positions_first_mutable(x), table);
  }

 private:
  RotaryConfig config_;
  RotaryFrequencies frequencies_;  // those of the shortest sequences
};

/// The inputs and attributes of ONNX RotaryEmbedding.
struct RotaryInputs {
  TensorView x;                              // (B, H, T, d), or (B, T, H·d) with num_heads
  TensorView cos_cache;                      // (N, r/2) with position_ids, else (B, T, r/2)
  TensorView sin_cache;                      // the same
  const TensorView* position_ids = nullptr;  // (B, T) of int32, rows of the caches
  RotaryLayout layout = RotaryLayout::halves;
  std::size_t num_heads = 0;             // of a three-dimensional x
  std::size_t rotary_embedding_dim = 0;  // r; 0: all of d
};

/// x turned by given cosines and sines. Throws shape_mismatch, or invalid_argument for a position
/// outside the caches.
Tensor rotary_embedding(const RotaryInputs& inputs);

}  // namespace clearformer
