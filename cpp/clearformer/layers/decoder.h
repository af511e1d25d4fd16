// Decoder: a stack of decoder blocks over an encoder's output, with an optional final norm.
// Source: Vaswani et al. 2017, section 3.1. Shapes: x (B, T, D), memory (B, S, D).
// Hook points: blocks.{i}.…; with a final norm ln_final.… and ln_final.hook_out (B, T, D).
#pragma once

#include "clearformer/layers/decoder_block.h"
#include "clearformer/layers/encoder.h"

namespace clearformer {

/// A stack of decoder blocks and its final norm.
class Decoder {
 public:
  /// Loads "blocks.0" … and "ln_final".
  Decoder(const WeightScope& scope, const StackConfig& config);

  std::size_t layers() const { return blocks_.size(); }
  /// Runs all layers and the final norm; updates x (B, T, D) in place. With a cache the memory is read by the first
  /// call only.
  void forward(const MutableTensorView& x, const TensorView& memory, const StackState& state,
               const Context& context) const;
  /// The same in steps: layer 0, 1, …, then finish.
  void forward_layer(std::size_t layer, const MutableTensorView& x, const TensorView& memory,
                     const StackState& state, const Context& context) const;
  void finish(const MutableTensorView& x, const Context& context) const;
  /// Backward in steps, as Encoder's; a layer adds to the gradient of the memory, d_memory (B, S, D).
  void finish_back(const MutableTensorView& d, const Context& context) const;
  void backward_layer(std::size_t layer, const MutableTensorView& d, const TensorView& memory,
                      const MutableTensorView& d_memory, const StackState& state,
                      const Context& context) const;

  const DecoderBlock& block(std::size_t layer) const { return blocks_[layer]; }
  /// Null if the stack has none.
  const Normalization* final_norm() const { return final_norm_ ? &*final_norm_ : nullptr; }

 private:
  StackConfig config_;
  std::vector<DecoderBlock> blocks_;
  std::optional<Normalization> final_norm_;
};

}  // namespace clearformer
