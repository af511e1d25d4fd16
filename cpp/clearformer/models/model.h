// Model: the common interface of all kinds of model (encoder-only, decoder-only, encoder-decoder, dual encoder):
// named inputs, named outputs, a forward pass in steps of one layer.
// Shapes: B batch, T tokens, S = past + T positions, V vocabulary.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clearformer/layers/gradient.h"
#include "clearformer/layers/key_value_cache.h"
#include "clearformer/layers/trace.h"
#include "clearformer/models/adapters.h"
#include "clearformer/models/config.h"
#include "clearformer/models/logit_directions.h"
#include "clearformer/models/parameters.h"

namespace clearformer {

/// Inputs of a forward pass under Hugging Face's names. Each model accepts some of them and rejects the others by
/// name.
struct ModelInputs {
  using Input = std::optional<TensorView>;
  Input input_ids = {};  // (B, T) int32
  Input attention_mask =
      {};  // (B, S) uint8, 0 = padding; none: no padding; of samples (B, samples); ignored beside input_features
  Input token_type_ids = {};          // (B, T) int32; none: zeros
  Input position_ids = {};            // (B or 1, T) int32; none: the architecture's default
  Input decoder_input_ids = {};       // (B, T') int32
  Input decoder_attention_mask = {};  // (B, S') uint8
  Input decoder_position_ids = {};    // (B or 1, T') int32
  Input pixel_values = {};            // (B, C, H, W) float32
  Input input_features = {};          // (B, mel bins, frames) float32
  Input input_values = {};            // (B, samples) float32
  Input inputs_embeds = {};           // (B, T, E) float32: token embeddings in place of input_ids
  Input decoder_inputs_embeds = {};   // (B, T', E) float32: in place of decoder_input_ids
  /// (B, T, D) float32: the residual stream before start_at_layer, in place of the tokens or images (of the decoder's
  /// tokens, for an encoder-decoder given a source, too). Of images with rotary positions (DINOv3) pixel_values may be
  /// given as well: their size places the patches, by default the config's does.
  Input residual = {};
  bool interpolate_pos_encoding = false;  // images of another size than the config's
  KeyValueCache* cache = nullptr;         // keys and values of past positions; none: no past
  /// Positions whose logits are computed, in this order, negative from the end; empty: all.
  std::vector<std::int64_t> logits_to_keep = {};
  /// The pass ends before this layer (of the decoder, for an encoder-decoder given target tokens); its only output is
  /// the "residual" stream (B, T, D) at that point, and a cache is left unchanged.
  std::optional<std::size_t> stop_at_layer = {};
  /// The pass begins before this layer, with `residual`; needs it.
  std::optional<std::size_t> start_at_layer = {};

  /// For an encoder-decoder: whether the encoder has inputs or has run, in which case the residual stream is the decoder's;
  /// whether the decoder has inputs.
  bool has_source() const;
  bool has_target() const;
};

/// An input that a caller may name: its member and contents, the input it qualifies (its own name if it is
/// independent), and the one whose place it takes.
struct InputName {
  std::string_view name;
  ModelInputs::Input ModelInputs::* member;
  DType dtype;
  std::string_view about = name;
  std::string_view in_place_of = name;
};
/// All inputs.
inline constexpr InputName kInputNames[] = {
    {"input_ids", &ModelInputs::input_ids, DType::i32},
    {"attention_mask", &ModelInputs::attention_mask, DType::u8, "input_ids"},
    {"token_type_ids", &ModelInputs::token_type_ids, DType::i32, "input_ids"},
    {"position_ids", &ModelInputs::position_ids, DType::i32, "input_ids"},
    {"decoder_input_ids", &ModelInputs::decoder_input_ids, DType::i32},
    {"decoder_attention_mask", &ModelInputs::decoder_attention_mask, DType::u8,
     "decoder_input_ids"},
    {"decoder_position_ids", &ModelInputs::decoder_position_ids, DType::i32, "decoder_input_ids"},
    {"pixel_values", &ModelInputs::pixel_values, DType::f32},
    {"input_features", &ModelInputs::input_features, DType::f32},
    {"input_values", &ModelInputs::input_values, DType::f32},
    {"inputs_embeds", &ModelInputs::inputs_embeds, DType::f32, "inputs_embeds", "input_ids"},
    {"decoder_inputs_embeds", &ModelInputs::decoder_inputs_embeds, DType::f32,
     "decoder_inputs_embeds", "decoder_input_ids"},
    {"residual", &ModelInputs::residual, DType::f32},
};

/// Outputs under Hugging Face's names ("logits", "last_hidden_state", "pooler_output", …), in the order they are
/// computed.
struct ModelOutputs {
  std::vector<std::pair<std::string, Tensor>> tensors;

  void add(std::string name, Tensor value) {
    tensors.emplace_back(std::move(name), std::move(value));
  }
  /// Null if there is no such output.
  Tensor* find(std::string_view name);
  /// Throws invalid_argument if there is no such output.
  Tensor& at(std::string_view name);
};

/// A forward pass that can be abandoned after any layer. One at a time per model: step() throws invalid_argument if another
/// one has begun since and is not complete, or once it has returned false.
class ForwardPass {
 public:
  virtual ~ForwardPass() = default;
  /// Computes the next layer; false after the last step, when the outputs are complete.
  virtual bool step() = 0;
  /// Of a differentiated pass, after its last step: computes the gradients of the next part, from the outputs to the
  /// inputs, a layer a call; false once all that is sought is found. Throws unsupported for a model without gradients,
  /// invalid_argument for another pass or before its last step.
  virtual bool step_back();
  ModelOutputs& outputs() { return outputs_; }

 protected:
  ModelOutputs outputs_;

 private:
  friend class Model;
  Trace::Differentiation differentiation_;
};

/// One of Hugging Face's output lists ("hidden_states") and the hook points of its members.
struct OutputList {
  std::string name;
  std::vector<std::string> hooks;
};

/// A place in the forward pass that a trace can read and edit.
struct HookPoint {
  std::string name;
  std::string legend;  // the names of the axes: "batch pos head d_head"
  Shape shape;         // for one position of one sequence
  /// See is_on_request().
  bool on_request() const { return is_on_request(name); }
};

/// A model: named inputs to named outputs, whatever its architecture. It is used by one thread at a time, also by its
/// generations; several models may run in several threads at once: one at a time uses the pool, the others their own.
class Model {
 public:
  explicit Model(ModelConfig&& config) : config_(std::move(config)) {}
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelConfig& config() const { return config_; }
  /// Tensors of the checkpoint that the model does not use.
  const std::vector<std::string>& unexpected_tensors() const { return unexpected_; }
  /// Bytes of the weights as stored in memory, with adapters and what undo_edits() needs, and of the memory allocated for
  /// activations so far.
  std::size_t weight_bytes() const {
    return weight_bytes_ + parameters_.bytes_for_undo() + adapters_.bytes();
  }
  std::size_t workspace_bytes() const { return arena_.bytes(); }
  /// The most of that memory that was in use at a time.
  std::size_t workspace_used() const { return arena_.most_used(); }
  /// Records what the checkpoint held beyond the model's weights, and other names of these.
  void loaded(Weights& weights, std::vector<NameMap> synonyms) {
    synonyms_ = std::move(synonyms);
    unexpected_ = weights.unused();
    weight_bytes_ = static_cast<std::size_t>(weights.bytes_taken());
    parameters_ = Parameters(weights.take_parameters());
  }

  /// The weights under the checkpoint's names.
  const Parameters& parameters() const { return parameters_; }
  /// What a weight with this path of ours is called in each of the ways that transformers has for this architecture: see
  /// Architecture::synonyms.
  std::vector<std::string> synonyms(std::string_view path) const;
  /// A weight by its name in the checkpoint, in the file's shape and orientation, or by TransformerLens' name for it
  /// (see lens_weights.h). Throws invalid_argument for a name that the model does not have.
  ParameterView parameter(std::string_view name) const;
  /// Changes a weight, see Parameters::edit(); not while a pass is in progress. Keys and values in a cache remain those
  /// of the weights that computed them.
  void edit_parameter(std::string_view name, const ParameterEdit& edit);
  /// Takes back the last `count` edits, see Parameters::undo().
  void undo_edits(std::size_t count) { parameters_.undo(count); }

  /// The model's adapters; they are added, exchanged and removed while no pass is in progress.
  const Adapters& adapters() const { return adapters_; }
  /// See Adapters::add(), use() and remove(). Keys and values in a cache remain those of the adapters that were in force.
  void add_adapter(std::string name, std::vector<AdapterUpdate> updates) {
    adapters_.add(parameters_, std::move(name), std::move(updates));
  }
  void use_adapters(std::vector<ActiveAdapter> active) {
    adapters_.use(parameters_, std::move(active));
  }
  void remove_adapter(std::string_view name) { adapters_.remove(parameters_, name); }

  /// Begins a forward pass; the model, the inputs' tensors, their cache and the trace must outlive it. Throws
  /// shape_mismatch, dtype_mismatch, invalid_argument or unsupported for inputs that do not fit the model. A pass that is
  /// not completed leaves the cache unchanged.
  virtual std::unique_ptr<ForwardPass> start(const ModelInputs& inputs, Trace* trace) = 0;
  /// Runs a whole forward pass.
  ModelOutputs forward(const ModelInputs& inputs, Trace* trace = nullptr);

  /// The hook points that make up Hugging Face's hidden_states and attentions.
  virtual std::vector<OutputList> hidden_states() const = 0;
  virtual std::vector<OutputList> attentions() const = 0;
  /// Begins a pass that is differentiated: completed by step() it is followed by step_back(). Trace and gradient must
  /// outlive it. Throws, beside start()'s errors, invalid_argument for hook points, weights and edits that there are
  /// not, unsupported with a cache, and out_of_memory, with the sizes and what would fit, if the pass certainly needs
  /// more than is left (see memory_budget.h).
  std::unique_ptr<ForwardPass> start_gradient(const ModelInputs& inputs, Trace& trace,
                                              Gradient& gradient);
  /// Runs a pass forward and backward: the gradient's results replace those of an earlier pass.
  ModelOutputs gradient(const ModelInputs& inputs, Trace& trace, Gradient& gradient);
  /// What a differentiated pass keeps for its backward pass in bytes, but for matrices of scores and patterns.
  std::uint64_t kept_bytes(const ModelInputs& inputs, const Trace& trace, const Gradient& gradient,
                           bool recomputed);
  /// The gradient of a weight that was wanted, by any of its names, in the shape and orientation of parameter(name).
  /// That of a quantised weight is the one of the numbers it stands for. Throws invalid_argument if it was not wanted.
  Tensor weight_gradient(const Gradient& gradient, std::string_view name) const;

  /// All hook points, also those computed on request, in the order they are computed.
  const std::vector<HookPoint>& hooks();
  /// Bytes needed to capture what the trace requests in a pass over these inputs.
  std::uint64_t capture_bytes(const ModelInputs& inputs, const Trace& trace);
  /// Throws out_of_memory, with the sizes, if a pass over these inputs certainly needs more memory than is left
  /// (see memory_budget.h); throws as start() for inputs that do not fit the model.
  void expect_memory(const ModelInputs& inputs, const Trace* trace);

  /// Applies the final norm, if there is one, and the output layer or head to a residual stream
  /// (B, T, D): the "logit lens". Throws unsupported if there is no such layer.
  enum class Normalize { yes, no };
  virtual Tensor unembed(const TensorView& residual, Normalize normalize);
  /// See logit_directions.h; throws unsupported for models without logits over a single vocabulary.
  Directions logit_directions(const TensorView& tokens) const;
  Directions head_directions(std::size_t layer, KeyRole keys, const TensorView& directions) const;

  /// An empty cache for generating tokens. Throws unsupported for a model that does not generate.
  virtual KeyValueCache make_cache() const;
  /// The pass that runs before the first step of a generation and leaves its result in inputs.cache: the
  /// encoder of an encoder-decoder. Null if there is none.
  virtual std::unique_ptr<ForwardPass> start_encoding(const ModelInputs& inputs, Trace* trace);
  /// The next step of a generation: input_ids, their mask and positions are those of the generated sequence (of the
  /// decoder). Throws unsupported for a model that does not generate.
  virtual std::unique_ptr<ForwardPass> start_step(const ModelInputs& inputs, Trace* trace);

 protected:
  std::vector<std::string> sought_places(const Trace& trace, const Gradient& gradient,
                                         std::vector<const Parameter*>& weights);
  /// Decides what a differentiated pass keeps, with `sums` bytes for gradients of weights; throws out_of_memory.
  void choose_memory(const ModelInputs& inputs, const Trace& trace, Gradient& gradient,
                     std::uint64_t sums);
  /// What a pass over these inputs needs, at least, beyond the memory that is held.
  std::uint64_t pass_bytes(const std::vector<PassSize>& passes, const ModelInputs& inputs,
                           bool with_logits);
  const TowerConfig& tower_of(const PassSize& pass) const;
  /// Runs one dummy position through all layers, for a trace that collects the hook points.
  virtual void probe(Trace& trace) = 0;
  /// The tower before the output layer, and that layer; null for models that do not predict tokens. Some have a head
  /// between them.
  struct WordOutput {
    const Tower* tower = nullptr;
    const OutputLayer* output = nullptr;
    const Head* head = nullptr;
  };
  virtual WordOutput word_output() const { return {}; }
  [[noreturn]] void refuse_words() const;
  void expect_logits(const ModelInputs& inputs) const;
  void expect_cache(const ModelInputs& inputs) const;
  /// The size of each stack's pass over these inputs.
  virtual std::vector<PassSize> sizes(const ModelInputs& inputs) const = 0;
  /// Throws unsupported for an input that is given but neither `needed` nor `optional`, nor in place of such a one, and
  /// for a cache where none is used; invalid_argument for a missing needed input, for one that qualifies an absent
  /// input, for two of which one takes the other's place, for logits_to_keep where none are computed and for another
  /// model's cache; dtype_mismatch for a wrong dtype.
  void expect_inputs(const ModelInputs& inputs, std::initializer_list<std::string_view> needed,
                     std::initializer_list<std::string_view> optional) const;

  std::string_view replaced_input(const ModelInputs& inputs,
                                  std::initializer_list<std::string_view> needed) const;

  ModelConfig config_;
  std::vector<std::string> unexpected_;
  std::size_t weight_bytes_ = 0;
  Parameters parameters_;
  std::vector<NameMap> synonyms_;
  Adapters adapters_;
  std::vector<HookPoint> hooks_;  // collected on first use
  std::optional<Gradient>
      kept_of_one_[2];  // what a pass of one position keeps; without and with gradients of weights
  Arena arena_;
};

/// Restores a cache to its previous length unless the pass completes.
class CacheGuard {
 public:
  explicit CacheGuard(KeyValueCache* cache)
      : cache_(cache),
        length_(cache == nullptr ? 0 : cache->length()),
        had_memory_(cache != nullptr && cache->has_memory()) {}
  CacheGuard(const CacheGuard&) = delete;
  CacheGuard& operator=(const CacheGuard&) = delete;
  ~CacheGuard() {
    if (cache_ == nullptr) return;
    cache_->crop(std::min(length_, cache_->length()));
    if (!had_memory_) cache_->forget_memory();
  }
  void keep() { cache_ = nullptr; }

 private:
  KeyValueCache* cache_;
  std::size_t length_;
  bool had_memory_;
};

}  // namespace clearformer
