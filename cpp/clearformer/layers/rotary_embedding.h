// Rotary position embedding: each pair (a, b) of a head vector is rotated by an angle proportional to
// its position p,
//   a' = m·(a·cos(p·f_i) - b·sin(p·f_i)),  b' = m·(b·cos(p·f_i) + a·sin(p·f_i))
// so that the dot product of a query and a key depends on their distance only. The frequencies f,
// the attention factor m and the pairing of elements: rotary_frequencies.h.
// Source: Su et al. 2021, arXiv 2104.09864; as a single operation: ONNX RotaryEmbedding, opset 23.
// Shapes: B batch, T positions, H heads, d head size, r rotated dimensions.
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/heads.h"
#include "clearformer/layers/rotary_frequencies.h"

namespace clearformer {

/// Cosines and sines for one forward pass, shared by all layers.
struct RotaryTable {
  TensorView cosines;  // (B, T, r/2), or (1, T, r/2) for all sequences
  TensorView sines;    // the same
  RotaryLayout layout = RotaryLayout::halves;
};

/// Computes tables of cosines and sines, and applies them.
class RotaryEmbedding {
 public:
  explicit RotaryEmbedding(RotaryConfig config);

  const RotaryConfig& config() const { return config_; }

  /// Angles in double for positions (B, T) of int32, multiplied by the attention factor; allocated in the arena. If the
  /// scaling depends on the length, each call uses its largest position plus one.
  RotaryTable table(const TensorView& positions, Arena& arena) const;

  /// x (B, H, T, d) rotated by positions (B, T), (1, T) or (T) of int32.
  Tensor forward(const TensorView& x, TensorView positions) const;

  /// Rotates x in place.
  static void rotate(const MutableHeads& x, const RotaryTable& table);
  /// Rotates x (B, T, H, d) in place.
  static void rotate(const MutableTensorView& x, const RotaryTable& table) {
    rotate(positions_first_mutable(x), table);
  }
  /// The gradient of what rotate() left in x becomes that of x: rotated by the negative angles.
  static void rotate_back(const MutableTensorView& x, const RotaryTable& table);

 private:
  RotaryConfig config_;
  RotaryFrequencies frequencies_;  // for sequences within the original length
};

/// The inputs and attributes of ONNX RotaryEmbedding.
struct RotaryInputs {
  TensorView x = {};                         // (B, H, T, d), or (B, T, H·d) with num_heads
  TensorView cos_cache = {};                 // (N, r/2) with position_ids, else (B, T, r/2)
  TensorView sin_cache = {};                 // the same
  const TensorView* position_ids = nullptr;  // (B, T) of int32, rows of the caches
  RotaryLayout layout = RotaryLayout::halves;
  std::size_t num_heads = 0;             // for a three-dimensional x
  std::size_t rotary_embedding_dim = 0;  // r; 0: all of d
};

/// x rotated by given cosines and sines. Throws shape_mismatch, or invalid_argument for a position
/// outside the caches.
Tensor rotary_embedding(const RotaryInputs& inputs);

}  // namespace clearformer
