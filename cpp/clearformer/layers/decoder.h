// Decoder: a stack of decoder blocks and the final norm.
// Source: Vaswani et al. 2017, section 3.1. Shapes: x (B, T, D).
// Hook points: blocks.{i}.…, ln_final.…, ln_final.hook_out (B, T, D).
#pragma once

#include <vector>

#include "clearformer/layers/decoder_block.h"

namespace clearformer {

class Decoder {
 public:
  /// Loads "blocks.0" … and "ln_final".
  Decoder(const WeightScope& scope, const BlockConfig& config, std::size_t layers);

  /// Updates x (B, T, D) in place.
  void forward(MutableTensorView x, const Mask& mask, const RotaryTable* rotary,
               KeyValueCache* cache, const Context& context) const;

 private:
  std::vector<DecoderBlock> blocks_;
  Normalization final_norm_;
};

}  // namespace clearformer
