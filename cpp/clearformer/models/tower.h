// Tower: one stack of blocks with what comes before it: the embedding of text, image or sound, rotary
// tables, relative biases, masks. Encoder-only, decoder-only and vision models have one, encoder-
// decoders and CLIP two.
// Shapes: B batch, T positions, S = past + T keys, M positions of the memory, x (B, T, D).
// Hook points: those of text_embedding.h, image_embedding.h, audio_embedding.h, encoder.h, decoder.h.
#pragma once

#include <memory>

#include "clearformer/layers/audio_embedding.h"
#include "clearformer/layers/decoder.h"
#include "clearformer/layers/image_embedding.h"
#include "clearformer/layers/relative_position.h"
#include "clearformer/layers/text_embedding.h"

namespace clearformer {

/// The parts of a Tower.
struct TowerConfig {
  // One of the three.
  std::optional<TextEmbeddingConfig> text;
  std::optional<ImageEmbeddingConfig> image;
  std::optional<AudioEmbeddingConfig> audio;

  StackConfig stack;
  enum class Attends { to_all, to_the_past } attends = Attends::to_all;
  bool cross_attention = false;   // the blocks are decoder blocks over a memory
  std::size_t window_before = 0;  // how far layers with Span::local see back
  std::size_t window_after = 0;   // … and ahead
  std::optional<RotaryConfig> rotary;
  std::optional<RotaryConfig> local_rotary;  // of layers with Span::local, where it differs
  std::optional<RelativeBuckets> relative;   // T5: a bias on the scores of all layers
  std::size_t max_positions = 0;
  /// Whether the last of Hugging Face's hidden_states has passed the final norm.
  enum class LastHidden { normalized, raw } last_hidden = LastHidden::normalized;

  std::size_t d_model() const { return stack.block.attention.d_model; }
  /// How long sequences may get: rotary positions go on behind max_positions; the limit keeps int32
  /// sums of them safe.
  std::size_t longest() const {
    constexpr std::size_t kMost = 1u << 20;
    return rotary && max_positions < kMost ? kMost : max_positions;
  }
};

/// What a Tower reads.
struct TowerInputs {
  std::optional<TensorView> ids, token_types, positions;  // of text
  std::optional<TensorView> attention_mask;               // (B, S) uint8, 0 = padding
  std::optional<TensorView> images, features;
  bool interpolate = false;
  std::optional<std::size_t> stop_at_layer;  // none: through all layers and the final norm
  KeyValueCache* cache = nullptr;
  TensorView memory;                      // (B, M, D), for cross-attention
  std::optional<TensorView> memory_mask;  // (B, M) uint8
};

/// The sizes of one stack's pass. The hook points of the stack begin with the scope.
struct PassSize {
  std::string_view scope;
  std::size_t batch = 0, positions = 0;
  std::size_t past = 0;    // positions that a cache holds
  std::size_t memory = 0;  // positions that cross-attention reads
};

/// One stack of blocks with the embedding, positions and masks that come before it.
class Tower {
 public:
  /// `what` names the tower in messages ("forward", "encoder"). tokens: the table it shares with
  /// another layer, or null.
  Tower(const WeightScope& scope, const TowerConfig& config, std::string what,
        std::shared_ptr<const Embedding> tokens = nullptr);

  const TowerConfig& config() const { return config_; }
  const TextEmbedding* text() const { return text_ ? &*text_ : nullptr; }
  /// How many positions a pass over these inputs has behind it, and how many a memory holds.
  static std::size_t past_of(const TowerInputs& inputs);
  /// How large a pass over these inputs is; throws as output_shape.
  PassSize size(std::string_view scope, const TowerInputs& inputs) const;
  /// The norm at the end of the stack, in place; nothing where there is none.
  void finish(const MutableTensorView& x, const Context& context) const;
  /// A copy of a residual stream (B, T, D), with that norm where it is asked for. Throws
  /// shape_mismatch.
  MutableTensorView finished(const TensorView& residual, bool normalize, Arena& arena) const;
  /// The norm at the end, or null.
  const Normalization* final_norm() const;
  /// The attention of a layer of the stack: over the stack's own positions or over the memory.
  const MultiHeadAttention& attention(std::size_t layer, KeyRole role) const;
  /// Checks of shapes that need no computation; throws shape_mismatch or invalid_argument.
  Shape output_shape(const TowerInputs& inputs) const;
  /// Made once all weights are there in the config's shapes: its sizes are not absurd then.
  void prepare_rotary();

  /// The hook points of hidden_states and attentions under the scope `prefix` ("encoder" or "").
  std::vector<std::string> hidden_state_hooks(std::string_view prefix) const;
  std::vector<std::string> attention_hooks(std::string_view prefix,
                                           std::string_view attention = "attn") const;

 private:
  friend class TowerRun;
  MutableTensorView positions(const TowerInputs& inputs, std::size_t past, Arena& arena) const;
  void embed(const TowerInputs& inputs, const MutableTensorView& x, const Context& context) const;
  StackState state(const TowerInputs& inputs) const;

  TowerConfig config_;
  std::string what_;
  std::optional<TextEmbedding> text_;
  std::optional<ImageEmbedding> image_;
  std::optional<AudioEmbedding> audio_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
  std::optional<RotaryEmbedding> rotary_, local_rotary_;
  Tensor relative_bias_;  // (buckets, H)
};

/// A tower at work, one layer a step. Lives no longer than the tower, the inputs and the arena's frame.
class TowerRun {
 public:
  TowerRun(const Tower& tower, TowerInputs inputs, const Context& context);
  /// One made-up position through all layers, for a trace that wants to know the hook points.
  struct Probe {};
  TowerRun(const Tower& tower, Probe, const Context& context);
  TowerRun(const TowerRun&) = delete;  // its state points into it

  /// Embeds, then one layer a call, with the last one the final norm too; false once x is complete.
  bool step();
  MutableTensorView x() const { return x_; }

 private:
  void turn(const TensorView& positions);

  const Tower& tower_;
  TowerInputs inputs_;
  Context context_;
  MutableTensorView x_;
  StackState state_;
  RotaryTable rotary_, local_rotary_;
  std::size_t next_ = 0;  // 0: the embedding, i + 1: layer i
};

}  // namespace clearformer
