// Tower: one stack of blocks with its inputs: the embedding of text, image or audio, rotary tables, relative biases,
// masks. Encoder-only, decoder-only and vision models have one tower, encoder-decoders and CLIP two.
// Shapes: B batch, T positions, S = past + T keys, M positions of the memory, x (B, T, D).
// Hook points: those of text_embedding.h, image_embedding.h, audio_embedding.h, waveform_embedding.h, encoder.h, decoder.h;
//              project_out.hook_out (B, T, d_out).
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "clearformer/layers/audio_embedding.h"
#include "clearformer/layers/decoder.h"
#include "clearformer/layers/gradient.h"
#include "clearformer/layers/image_embedding.h"
#include "clearformer/layers/relative_position.h"
#include "clearformer/layers/text_embedding.h"

namespace clearformer {

class WaveformEmbedding;
struct WaveformEmbeddingConfig;

/// The parts of a Tower.
struct TowerConfig {
  // Exactly one of the four.
  std::optional<TextEmbeddingConfig> text;
  std::optional<ImageEmbeddingConfig> image;
  std::optional<AudioEmbeddingConfig> audio;
  std::shared_ptr<const WaveformEmbeddingConfig> waveform;

  StackConfig stack;
  enum class Attends { to_all, to_the_past } attends = Attends::to_all;
  bool cross_attention = false;   // decoder blocks, with attention to a memory
  std::size_t window_before = 0;  // window of layers with Mixer::local, towards the past
  std::size_t window_after = 0;   // … and towards the future
  std::optional<RotaryConfig> rotary;
  std::optional<RotaryConfig> local_rotary;  // of layers with Mixer::local, if different
  std::optional<RelativeBuckets> relative;   // T5: a bias on the scores, shared by all layers
  std::optional<AlibiConfig> alibi;          // BLOOM: the same without weights
  std::optional<RelativeTableConfig>
      relative_table;               // DeBERTa: positions that queries and keys are compared with
  bool isolates_padding = false;    // DeBERTa: padded positions attend to none (see EmptyRow)
  bool stores_frequencies = false;  // ESM: those of rotary positions may be in the file
  std::size_t max_positions = 0;
  /// Whether the final norm is applied to the last of Hugging Face's hidden_states.
  enum class LastHidden { normalized, raw } last_hidden = LastHidden::normalized;
  /// > 0: what leaves the stack is projected to this many dimensions (OPT-350m).
  std::size_t d_out = 0;

  std::size_t d_model() const { return stack.block.attention.d_model; }
  /// AST: spectrograms in place of images.
  bool reads_spectrograms() const { return image && image->patch.spectrograms; }
  bool ends_at_max_positions = false;  // even rotary positions and ALiBi
  /// Generation computes all keys again where a text outgrows this many positions.
  double renews_keys_beyond = std::numeric_limits<double>::infinity();
  /// Whether it reads the positions, by which its limit is counted then where they are given.
  bool reads_positions() const {
    return rotary || local_rotary || text->positions != TextEmbeddingConfig::Positions::none;
  }
  /// The maximum sequence length: rotary positions, ALiBi, unbounded sinusoids, DeBERTa's relative positions alone, and none
  /// at all, continue past max_positions; the limit keeps int32 sums of them from overflowing.
  static constexpr std::size_t kMost = 1u << 20;
  std::size_t longest() const {
    const bool unplaced =
        text && text->positions == TextEmbeddingConfig::Positions::none && !relative;
    const bool endless =
        (rotary || local_rotary || alibi || unplaced || (text && text->unbounded)) &&
        !ends_at_max_positions;
    return endless && max_positions < kMost ? kMost : max_positions;
  }
};

/// The inputs of a Tower.
struct TowerInputs {
  std::optional<TensorView> ids, token_types, positions;  // text
  std::optional<TensorView> embeds;                       // (B, T, E) in place of ids
  std::optional<TensorView> residual;                     // (B, T, D) in place of all inputs …
  std::size_t start_at_layer = 0;                         // … of the pass that begins here
  std::optional<TensorView> attention_mask;               // (B, S) uint8, 0 = padding
  std::optional<TensorView> images, features, samples;
  bool interpolate = false;
  std::optional<std::size_t> stop_at_layer;  // none: all layers and the final norm
  KeyValueCache* cache = nullptr;
  TensorView memory;                      // (B, M, D), for cross-attention
  std::optional<TensorView> memory_mask;  // (B, M) uint8
};

/// The sizes of one stack's pass. The names of the stack's hook points begin with `scope`.
struct PassSize {
  std::string_view scope;
  std::size_t batch = 0, positions = 0;
  std::size_t past = 0;    // cached positions
  std::size_t memory = 0;  // positions read by cross-attention
  bool cached = false;     // keys and values are appended to a cache
};

/// One stack of blocks with its embedding, positions and masks.
class Tower {
 public:
  /// `what` names the tower in messages ("forward", "encoder"). tokens: an embedding table shared with
  /// another layer, or null.
  Tower(const WeightScope& scope, const TowerConfig& config, std::string what,
        std::shared_ptr<const Embedding> tokens = nullptr);

  const TowerConfig& config() const { return config_; }
  const TextEmbedding* text() const { return text_ ? &*text_ : nullptr; }
  /// The number of cached positions before these inputs.
  static std::size_t past_of(const TowerInputs& inputs);
  /// The size of a pass over these inputs; throws as output_shape.
  PassSize size(std::string_view scope, const TowerInputs& inputs) const;
  /// Applies the final norm in place, if there is one.
  void finish(const MutableTensorView& x, const Context& context) const;
  /// What leaves the tower: x (B, T, D) after the final norm, projected (B, T, d_out) if the config says so.
  MutableTensorView projected(const MutableTensorView& x, const Context& context) const;
  /// Zeros for the gradient of what leaves the tower; without a projection that is d (B, T, D), the gradient of x.
  MutableTensorView projected_gradient(const MutableTensorView& d, Arena& arena) const;
  /// Backward: from d_out, the gradient of what leaves the tower, d (B, T, D), that of x, is overwritten.
  void projected_back(const TensorView& x, const MutableTensorView& d_out,
                      const MutableTensorView& d, const Context& context) const;
  /// A copy of a residual stream (B, T, D), normalized by the final norm on request, and projected. Throws
  /// shape_mismatch.
  MutableTensorView finished(const TensorView& residual, bool normalize, Arena& arena) const;
  /// The projection of what leaves the tower, or null.
  const Linear* projection() const { return project_out_ ? &*project_out_ : nullptr; }
  /// The final norm, or null.
  const Normalization* final_norm() const;
  /// The attention of a layer of the stack: self-attention, or over the memory. Throws unsupported for a layer without.
  const MultiHeadAttention& attention(std::size_t layer, KeyRole role) const;
  /// The mask of the frames of samples, which replaces one of samples among the inputs; empty without such a one. Throws
  /// as output_shape.
  Tensor frame_mask(TowerInputs& inputs) const;
  /// Checks the shapes without computing; throws shape_mismatch or invalid_argument.
  Shape output_shape(const TowerInputs& inputs) const;
  /// Computes the rotary tables, once all weights are found to have the config's shapes: absurd sizes are ruled out
  /// then.
  void prepare_rotary();

  /// The hook points of hidden_states and attentions under the scope `prefix` ("encoder" or ""), the latter of layers that
  /// have one.
  std::vector<std::string> hidden_state_hooks(std::string_view prefix) const;
  std::vector<std::string> attention_hooks(std::string_view prefix,
                                           std::string_view attention = "attn") const;

 private:
  friend class TowerRun;
  // What the names of its inputs begin with.
  std::string_view side() const { return config_.cross_attention ? "decoder_" : ""; }
  Shape tokens_shape(const TowerInputs& inputs) const;
  void expect_room(const TowerInputs& inputs, std::size_t tokens) const;
  MutableTensorView positions(const TowerInputs& inputs, std::size_t past, Arena& arena) const;
  TextEmbedding::Inputs text_inputs(const TowerInputs& inputs, Arena& arena) const;
  void embed(const TowerInputs& inputs, const MutableTensorView& x, const Context& context) const;
  void embed_back(const TowerInputs& inputs, const MutableTensorView& d,
                  const Context& context) const;
  StackState state(const TowerInputs& inputs) const;

  TowerConfig config_;
  std::string what_;
  std::optional<TextEmbedding> text_;
  // Not within it: what destroys them is with them.
  std::shared_ptr<const ImageEmbedding> image_;
  std::shared_ptr<const AudioEmbedding> audio_;
  std::shared_ptr<const WaveformEmbedding> waveform_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
  std::optional<RotaryEmbedding> rotary_, local_rotary_;
  std::optional<Linear> project_out_;
  Tensor relative_bias_;  // (buckets, H)
  std::optional<RelativeTable> relative_table_;
};

/// A forward pass through a tower, one layer per step. Must not outlive the tower, the inputs or the arena's frame.
class TowerRun {
 public:
  TowerRun(const Tower& tower, TowerInputs inputs, const Context& context);
  /// Selects a pass of one dummy position, for a trace that collects the hook points.
  struct Probe {};
  TowerRun(const Tower& tower, Probe, const Context& context);
  TowerRun(const TowerRun&) = delete;  // its state points into the object

  /// Embeds, or takes the residual stream given; then computes one layer per call, the last one with the final norm;
  /// false once x is complete. Throws invalid_argument after that.
  bool step();
  MutableTensorView x() const { return x_; }

  // Of a differentiated pass (gradient.h).

  /// What follows the tower keeps values for the backward pass.
  void keep_on() const {
    if (Gradient* gradient = context_.trace.gradient()) {
      gradient->set_keeping(Gradient::Keeping::values);
    }
  }
  /// Whether anything in the tower is differentiated.
  bool differentiates() const { return next_ > from_; }
  /// The gradient of x (B, T, D), zeros before the first step back.
  MutableTensorView d() const { return d_; }
  /// The steps of step() backwards, one layer per call; false once the lowest one that is sought is done. d_memory: the
  /// gradient of the memory, to which a decoder's layers add.
  bool step_back(const MutableTensorView& d_memory = {});
  /// All layers are differentiated, for the memory's gradient.
  void differentiate_memory() { from_ = std::min(from_, first_ + 1); }

 private:
  static MutableTensorView begin(const Tower& tower, const TowerInputs& inputs, Arena& arena);
  void begin_step(Gradient& gradient);
  void run_layer(std::size_t layer);
  void recompute(std::size_t step);
  std::string before_step(std::size_t step) const;
  void sum_positions();
  void positions_back();
  void turn(const TensorView& positions);
  void expect_alone() const;
  [[noreturn, gnu::noinline]] static void refuse_samples();
  [[gnu::noinline]] void place(std::size_t length);
  void place_patches(std::size_t length);

  const Tower& tower_;
  TowerInputs inputs_;
  Context context_;
  std::size_t frames_;  // of the arena, which are others in a step only if another pass has begun
  MutableTensorView x_;
  StackState state_;
  RotaryTable rotary_, local_rotary_;
  RelativePositions relative_;
  std::size_t first_ = 0;      // the step that embeds, or takes the residual stream given
  std::size_t next_ = first_;  // 0: the embedding, i + 1: layer i
  bool complete_ = false;
  MutableTensorView d_, d_positions_;
  std::size_t from_ = 0;                // the lowest step that is differentiated
  std::vector<std::size_t> kept_ = {};  // the number of values kept before each step
};

/// The lowest step of TowerRun::step() in the tower of that path that is differentiated for these places; the largest
/// number if there is none.
std::size_t first_sought(std::string_view path, const std::vector<std::string>& places,
                         const StackConfig& stack);
/// The step that computes a place in the tower of that path; nothing for one of another tower.
std::optional<std::size_t> step_in(std::string_view path, std::string_view place,
                                   const StackConfig& stack);

}  // namespace clearformer
