// Encoder: a stack of encoder blocks, with an optional final norm. With a causal mask it is
// the stack of decoder-only models.
// Source: Vaswani et al. 2017, section 3.1. Shapes: x (B, T, D).
// Hook points: blocks.{i}.…; with a final norm ln_final.… and ln_final.hook_out (B, T, D).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "clearformer/layers/encoder_block.h"

namespace clearformer {

/// Whether the stack ends with a norm.
enum class FinalNorm { none, present };

/// What the first sub-layer of a block is, which reads other positions.
enum class Mixer {
  full,   // attention to all positions that the model's mask allows
  local,  // attention to those of them within its window
  // Without attention:
  convolution,  // a gated convolution over the latest positions: see short_convolution.h
  delta,        // the gated delta rule: see gated_delta_rule.h
};

/// Blocks whose weights several layers use (Lan et al. 2019, arXiv 1909.11942, section 3.1): groups of blocks, of
/// which consecutive layers share one, group after group.
struct SharedBlocks {
  std::size_t groups = 0;
  std::size_t per_group = 1;  // blocks; the layers of the stack are a multiple
};

/// A stack of identical blocks.
struct StackConfig {
  BlockConfig block = {};
  std::size_t layers = 0;
  FinalNorm final_norm = FinalNorm::present;
  std::optional<NormConfig> own_final_norm = {};           // none: as those of the blocks
  std::vector<Mixer> mixers = {};                          // one per layer; empty: all full
  std::optional<ShortConvolutionConfig> convolution = {};  // of layers with Mixer::convolution
  std::optional<GatedDeltaConfig> delta = {};              // of layers with Mixer::delta
  std::vector<std::uint8_t> rotated =
      {};                              // which layers have rotary positions; empty: all (SmolLM3)
  std::string_view blocks = "blocks";  // the blocks' scope: {blocks}.{i}; may be empty
  bool normalized_input = false;       // block 0 has no ln1 (ModernBERT)
  bool scale_by_depth = false;         // layer i divides its scores by i + 1 (GPT-2's option)
  std::optional<SharedBlocks> shared = {};  // none: each layer has a block of its own
  std::vector<std::uint8_t> dense = {};  // which layers have one network where others have experts
  std::size_t dense_hidden = 0;          // and its d_hidden

  Mixer mixer(std::size_t layer) const { return mixers.empty() ? Mixer::full : mixers[layer]; }
  bool attends(std::size_t layer) const { return mixer(layer) < Mixer::convolution; }
  /// The scope of a layer: "blocks.0".
  std::string block_scope(std::size_t layer) const;
  /// The number of blocks with weights, the one that a layer uses, and the scope of its weights: "blocks.0", or
  /// "blocks.0.0" with the group first.
  std::size_t stored_blocks() const;
  std::size_t block_used(std::size_t layer) const;
  std::string weights_scope(std::size_t block) const;
  /// The block config of a layer, including per-layer differences.
  BlockConfig block_of(std::size_t layer) const;
};

/// The arguments of a stack's layers besides the activations.
struct StackState {
  Mask mask = {};                       // of the layers with Mixer::full
  Mask local_mask = {};                 // of those with Mixer::local
  const RotaryTable* rotary = nullptr;  // none: positions are added to the embeddings
  const RotaryTable* local_rotary = nullptr;
  KeyValueCache* cache = nullptr;  // none: keys of this call only
  Mask cross_mask = {};            // which positions of the memory a decoder attends to
  const RelativePositions* relative = nullptr;  // of disentangled attention
  const MutableTensorView* d_bias = nullptr;    // backward: see AttentionState
  const MutableTensorView* d_relative = nullptr;
  const TensorView* padding = nullptr;  // (B, S) uint8, 0 = padding; none: no padding

  AttentionState attention(Mixer mixer, std::size_t layer) const {
    const bool local = mixer == Mixer::local;
    return {local ? local_mask : mask,
            local ? local_rotary : rotary,
            cache,
            layer,
            KeyRole::sequence,
            relative,
            d_bias,
            d_relative,
            padding};
  }
};

/// A stack of encoder blocks and its final norm.
class Encoder {
 public:
  /// Loads "blocks.0" … and "ln_final".
  Encoder(const WeightScope& scope, const StackConfig& config);

  std::size_t layers() const { return config_.layers; }
  /// Runs all layers and the final norm; updates x (B, T, D) in place.
  void forward(const MutableTensorView& x, const StackState& state, const Context& context) const;
  /// The same in steps: layer 0, 1, …, then finish.
  void forward_layer(std::size_t layer, const MutableTensorView& x, const StackState& state,
                     const Context& context) const;
  void finish(const MutableTensorView& x, const Context& context) const;
  /// Backward in steps: finish, the last layer, …, each of which turns d (B, T, D), the gradient of what the step
  /// computed, into that of its x, in place.
  void finish_back(const MutableTensorView& d, const Context& context) const;
  void backward_layer(std::size_t layer, const MutableTensorView& d, const StackState& state,
                      const Context& context) const;

  const EncoderBlock& block(std::size_t layer) const { return blocks_[config_.block_used(layer)]; }
  /// Null if the stack has none.
  const Normalization* final_norm() const { return final_norm_ ? &*final_norm_ : nullptr; }

 private:
  AttentionState attention_state(std::size_t layer, const StackState& state) const;

  StackConfig config_;
  std::vector<EncoderBlock> blocks_;
  std::optional<Normalization> final_norm_;
};

/// Applies the norm at the end of a stack in place.
void apply_final_norm(const Normalization& norm, const MutableTensorView& x,
                      const Context& context);
/// The gradient of its result d (B, T, D) becomes that of x, in place.
void final_norm_back(const Normalization& norm, const MutableTensorView& d, const Context& context);

}  // namespace clearformer
