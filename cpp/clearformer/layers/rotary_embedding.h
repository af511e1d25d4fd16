// Rotary position embedding: the pair (x_i, x_{i + d/2}) of a head vector is turned by the angle
//   position · θ^(-2i/d)
// so that the dot product of a query and a key depends on their distance alone.
// Source: Su et al. 2021, arXiv 2104.09864; layout "halves" as Hugging Face checkpoints store it.
// Shapes: B batch, T positions, H heads, d = d_head.
#pragma once

#include <vector>

#include "clearformer/layers/context.h"

namespace clearformer {

/// How the frequencies are stretched for contexts longer than the trained one ("rope_scaling").
struct RotaryScaling {
  enum class Kind { none, linear, llama3 };
  Kind kind = Kind::none;
  double factor = 1.0;
  // llama3: wavelengths between original / high_freq_factor and original / low_freq_factor blend.
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double original_max_positions = 8192.0;
};

/// Cosines and sines of one forward pass, shared by all its layers.
struct RotaryTable {
  TensorView cosines;  // (B, T, d/2)
  TensorView sines;    // (B, T, d/2)
};

class RotaryEmbedding {
 public:
  /// `d_head` must be even; `base` is θ.
  RotaryEmbedding(std::size_t d_head, double base, const RotaryScaling& scaling);

  std::size_t half() const { return frequencies_.size(); }

  /// Angles in double for positions (B, T) of int32; the table lives in the arena.
  RotaryTable table(TensorView positions, Arena& arena) const;

  /// Turns x (B, T, H, d) in place.
  static void rotate(MutableTensorView x, const RotaryTable& table);

 private:
  std::vector<double> frequencies_;  // radians per position, d/2 of them
};

}  // namespace clearformer
