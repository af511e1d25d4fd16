// Multi-head attention:  MultiHead(Q, K, V) = concat(head_1, …, head_H)·W_O,
//   head_h = Attention(Q·W_Q^h, K·W_K^g, V·W_V^g),  g = h / (H / G)
// Source: Vaswani et al. 2017, section 3.2.2; grouped queries: Ainslie et al. 2023, arXiv 2305.13245.
// Shapes: B batch, T queries, S keys, D model, H query heads, G key/value heads, d head size.
// Hook points: hook_q, hook_z (B, T, H, d), hook_k, hook_v (B, S, G, d), with rotary positions
//              hook_rot_q, hook_rot_k (as the scores read them), with norms of queries and keys q_norm.…, k_norm.…;
//              those of attention.h, with relative positions those of disentangled_attention.h, with a gate hook_gate
//              (output_gate.h); on request hook_result (separate_heads.h).
#pragma once

#include <optional>

#include "clearformer/layers/additive_attention.h"
#include "clearformer/layers/attention.h"
#include "clearformer/layers/disentangled_attention.h"
#include "clearformer/layers/normalization.h"
#include "clearformer/layers/output_gate.h"
#include "clearformer/layers/rotary_embedding.h"
#include "clearformer/layers/separate_heads.h"

namespace clearformer {

/// Which of the four projections have a bias.
struct AttentionBias {
  AttentionBias(Bias all = Bias::none) : query(all), key(all), value(all), output(all) {}
  Bias query, key, value, output;
};

/// The sizes and options of multi-head attention.
struct AttentionConfig {
  std::size_t d_model = 0;
  std::size_t num_heads = 0;
  std::size_t num_key_value_heads = 0;  // 0: the same as num_heads
  std::size_t d_head = 0;
  std::size_t query_features = 0;  // 0: d_model
  std::size_t key_features = 0;    // 0: d_model
  std::size_t value_features = 0;  // 0: d_model
  AttentionBias bias = {};
  std::optional<double> scale = {};  // of the scores; none: 1/√d
  float softcap = 0.0f;              // > 0: see AttentionOptions
  float clip = 0.0f;                 // > 0: limits queries, keys and values to ± this (OLMo)
  std::optional<NormConfig> head_norm = {};  // of queries and keys before rotation (Qwen3, Gemma 3)
  bool norm_after_rotation = false;          // head_norm follows it (Hunyuan, nanochat)
  bool norm_joins_heads = false;             // head_norm is over all heads together (OLMo 2)
  bool norm_per_head = false;                // head_norm has a weight for each head (Cohere)
  std::size_t additive_hidden = 0;  // > 0: additive scoring in each head, with that hidden size
  bool learned_extra_key = false;   // an extra key and value, "bias_k" and "bias_v" (1, 1, G·d)
  bool zero_extra_key = false;      // an extra key and value of zeros
  EmptyRow empty_row = EmptyRow::zeros;
  bool gated =
      false;  // the heads' results are multiplied by a gate (Qwen 3.5), which backward() has not
  std::optional<DisentangledConfig> disentangled = {};  // scores of relative positions (DeBERTa)

  double usual_scale() const;  // 1/√d
};

/// The role of the keys in a cache.
enum class KeyRole {
  sequence,  // each call appends its own to those of the past
  memory,    // an encoder's output: projected by the first call, read by all later ones
};

/// The arguments of attention, or of what takes its place, besides the activations.
struct AttentionState {
  const Mask& mask;
  const RotaryTable* rotary = nullptr;  // none: positions are added to the embeddings
  KeyValueCache* cache = nullptr;       // none: keys of this call only
  std::size_t layer = 0;                // index of the keys and values in the cache
  KeyRole role = KeyRole::sequence;
  const RelativePositions* relative = nullptr;  // of disentangled attention, which has no cache
  // Of a backward pass: the gradient of what the mask adds to the scores (1, H, T, S), and of `relative`'s rows, are
  // added to these; null: not wanted.
  const MutableTensorView* d_bias = nullptr;
  const MutableTensorView* d_relative = nullptr;
  const TensorView* padding = nullptr;  // what a layer in place of attention needs of the mask
};

/// Multi-head attention with its projections, rotary positions, cache and biases.
class MultiHeadAttention {
 public:
  /// The inputs of the projections.
  struct Inputs {
    TensorView queries;   // (B, T, D_q)
    TensorView keys;      // (B, S, D_k); not read if the cache holds the memory
    TensorView values;    // (B, S, D_v); likewise
    HeadInputs own = {};  // of single heads, in place of the above
  };

  /// Loads "q_proj", "k_proj", "v_proj", "o_proj" (with a gate "g_proj"), and what the config's options name.
  MultiHeadAttention(const WeightScope& scope, const AttentionConfig& config);

  const AttentionConfig& config() const { return config_; }
  /// The output projection of the concatenated heads, (D, H·d).
  const Linear& output() const { return output_; }

  /// Offers what each head of self-attention reads of the residual stream x (B, T, D): see separate_heads.h.
  HeadInputs offer_inputs(const TensorView& x, const Normalization* norm,
                          const Context& context) const {
    return offer_head_inputs(x, {config_.num_heads, config_.num_key_value_heads}, norm, context);
  }

  /// output (B, T, D).
  void forward(const Inputs& inputs, const AttentionState& state, const MutableTensorView& output,
               const Context& context, Write write = Write::over) const;
  /// Self-attention: queries, keys and values are all x (B, T, D).
  void forward(const TensorView& x, const AttentionState& state, const MutableTensorView& output,
               const Context& context, Write write = Write::over) const {
    forward({x, x, x}, state, output, context, write);
  }

  /// The gradients of Inputs; null: not wanted.
  struct InputGradients {
    MutableTensorView queries, keys, values;
    const InputReaders* readers = nullptr;  // who offers those of single heads
  };
  /// From d_output (B, T, D): that of the queries, stored with `write`, and of the keys and values, which are added.
  /// d_output is read before any of them is written; they may be one tensor. The inputs are read for gradients of
  /// weights only. Without a cache.
  void backward(const Inputs& inputs, const AttentionState& state, const TensorView& d_output,
                const InputGradients& d, Write write, const Context& context) const;
  /// Self-attention: dx is the sum of all three.
  void backward(const TensorView& x, const AttentionState& state, const TensorView& d_output,
                const MutableTensorView& dx, Write write, const Context& context,
                const InputReaders* readers = nullptr) const {
    backward({x, x, x}, state, d_output, {dx, dx, dx, readers}, write, context);
  }

 private:
  struct Projected {
    MutableTensorView keys, values;  // (B, S', G, d)
  };
  void check(const Inputs& inputs) const;
  void check(const char* what, const TensorView& x, std::size_t batch, std::size_t features) const;
  std::size_t extra_keys() const;
  void clip(const MutableTensorView& x) const;
  void normalize(const Normalization& norm, const MutableTensorView& x,
                 const Context& context) const;
  /// The names of the hook points of queries or keys, and their axes.
  struct Side {
    std::string_view norm, rotated, legend;
  };
  void place(const Side& side, const std::optional<Normalization>& norm, const RotaryTable* rotary,
             const MutableTensorView& x, const Context& context) const;
  void place_back(const Side& side, const std::optional<Normalization>& norm,
                  const RotaryTable* rotary, const MutableTensorView& d,
                  const Context& context) const;
  MutableTensorView project_queries(const Inputs& inputs, const AttentionState& state,
                                    const Context& context) const;
  Projected project(const Inputs& inputs, const AttentionState& state,
                    const Context& context) const;
  MutableTensorView with_extra(const MutableTensorView& x, const Tensor& learned,
                               Arena& arena) const;
  const PackedKeyValues& packed(const Projected& projected, const AttentionState& state,
                                PackedKeyValues& own, Arena& arena) const;
  AttentionOptions options() const;
  struct CoreGradients {
    MutableTensorView queries, keys, values;
  };
  CoreGradients core_back(const MutableTensorView& d_mixed, const AttentionState& state,
                          const Context& context) const;
  void queries_back(const TensorView& x, const AttentionState& state, const MutableTensorView& dq,
                    const InputGradients& d, Write write, const Context& context) const;
  void keys_back(const Inputs& inputs, const AttentionState& state, const MutableTensorView& dk,
                 const MutableTensorView& dv, const InputGradients& d,
                 const Context& context) const;
  void clip_back(const char* what, const MutableTensorView& d, const Context& context) const;
  void normalize_back(const Normalization& norm, const MutableTensorView& d,
                      const Context& context) const;
  MutableTensorView without_extra(const MutableTensorView& d, const Tensor& learned,
                                  const Context& context) const;
  Mask with_positions(const Mask& mask, const TensorView& queries, const TensorView& keys,
                      const RelativePositions& positions, const Context& context) const;

  AttentionConfig config_;
  Linear query_, key_, value_, output_;
  std::optional<Normalization> query_norm_, key_norm_;
  std::shared_ptr<const OutputGate> gate_;
  Tensor extra_key_, extra_value_;
  std::optional<AdditiveScore> additive_;
  std::optional<DisentangledScores> disentangled_;
};

}  // namespace clearformer
