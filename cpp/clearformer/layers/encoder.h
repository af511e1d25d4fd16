// Encoder: a stack of encoder blocks, with or without a norm at the end. With a causal mask it is
// the stack of decoder-only models.
// Source: Vaswani et al. 2017, section 3.1. Shapes: x (B, T, D).
// Hook points: blocks.{i}.…; with a final norm ln_final.… and ln_final.hook_out (B, T, D).
#pragma once

#include <optional>
#include <vector>

#include "clearformer/layers/encoder_block.h"

namespace clearformer {

enum class FinalNorm { none, present };

struct StackConfig {
  BlockConfig block;
  std::size_t layers = 0;
  FinalNorm final_norm = FinalNorm::present;
};

class Encoder {
 public:
  /// Loads "blocks.0" … and "ln_final".
  Encoder(const WeightScope& scope, const StackConfig& config);

  /// Updates x (B, T, D) in place.
  void forward(MutableTensorView x, const Mask& mask, const RotaryTable* rotary,
               KeyValueCache* cache, const Context& context) const;

 private:
  std::vector<EncoderBlock> blocks_;
  std::optional<Normalization> final_norm_;
};

}  // namespace clearformer
