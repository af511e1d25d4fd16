// Decoder: a stack of decoder blocks over an encoder's output, with or without a norm at the end.
// Source: Vaswani et al. 2017, section 3.1. Shapes: x (B, T, D), memory (B, S, D).
// Hook points: blocks.{i}.…; with a final norm ln_final.… and ln_final.hook_out (B, T, D).
#pragma once

#include "clearformer/layers/decoder_block.h"
#include "clearformer/layers/encoder.h"

namespace clearformer {

class Decoder {
 public:
  /// Loads "blocks.0" … and "ln_final".
  Decoder(const WeightScope& scope, const StackConfig& config);

  /// Updates x (B, T, D) in place.
  void forward(MutableTensorView x, TensorView memory, const Mask& mask, const Mask& cross_mask,
               const Context& context) const;

 private:
  std::vector<DecoderBlock> blocks_;
  std::optional<Normalization> final_norm_;
};

}  // namespace clearformer
