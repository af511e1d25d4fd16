// Decoder-only model: embedding -> causal blocks -> output layer (GPT-like language models).
// Shapes: B batch, T new tokens, S = past + T positions in all, V vocabulary.
// Hook points: hook_embed (B, T, D), those of encoder.h.
#pragma once

#include <string_view>

#include "clearformer/layers/encoder.h"
#include "clearformer/layers/output_layer.h"
#include "clearformer/models/config.h"

namespace clearformer {

class DecoderOnlyModel {
 public:
  /// Loads a checkpoint; throws missing_tensor, shape_mismatch, dtype_mismatch, malformed_config or
  /// unsupported. `config_file` is the name used in messages.
  static DecoderOnlyModel load(Weights weights, std::string_view config_text,
                               std::string config_file = "config.json");

  /// Loads a Hugging Face folder from disk: config.json, model.safetensors or its shards.
  static DecoderOnlyModel from_pretrained(const std::string& folder);

  enum class LogitsOf { all_positions, last_position };

  struct Request {
    TensorView input_ids;                        // (B, T) int32
    const TensorView* attention_mask = nullptr;  // (B, S) uint8, 0 = padding; none: no padding
    const TensorView* position_ids = nullptr;    // (B, T) int32; none: past, past + 1, …
    KeyValueCache* cache = nullptr;              // holds the past; none: no past
    LogitsOf logits = LogitsOf::all_positions;
  };

  /// The scores of the next token: (B, T, V), or (B, 1, V) for the last position alone. After an
  /// error the cache is as it was before.
  Tensor forward(const Request& request, Trace* trace = nullptr);

  const ModelConfig& config() const { return config_; }
  KeyValueCache make_cache() const { return {config_.n_layers, config_.n_ctx}; }
  /// Tensors of the checkpoint that the architecture does not use.
  const std::vector<std::string>& unexpected_tensors() const { return unexpected_; }
  std::size_t workspace_bytes() const { return arena_->bytes(); }

 private:
  DecoderOnlyModel(ModelConfig config, const Weights& weights, const WeightScope& scope);

  void check(const Request& request, std::size_t past) const;
  Mask mask(const Request& request, std::size_t past) const;
  TensorView positions(const Request& request, std::size_t past);
  Tensor run(const Request& request, std::size_t past, Trace* trace);

  ModelConfig config_;
  Embedding embedding_;
  Encoder blocks_;
  OutputLayer output_;
  RotaryEmbedding rotary_;
  std::vector<std::string> unexpected_;
  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
};

}  // namespace clearformer
