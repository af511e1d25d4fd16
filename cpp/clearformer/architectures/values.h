// Readers of config.json shared by the architectures.
#pragma once

#include "clearformer/architectures/architecture.h"

namespace clearformer {

NormConfig layer_norm(std::size_t d_model, double eps);
NormConfig rms_norm(std::size_t d_model, double eps);

/// LayerNorm without weight and bias.
NormConfig plain_layer_norm(std::size_t d_model, double eps);

/// The activation under `key`; throws unsupported for an unknown one. Records its name in `model`.
Activation read_activation(const ConfigReader& config, std::string_view key, ModelConfig& model);

/// sqrt(d_model) if "scale_embedding" is set, else 1.
float embedding_scale(const ConfigReader& config, std::size_t d_model);

/// Reads "pad_token_id" as torch's padding_idx of the token embeddings.
void read_padding(const ConfigReader& config, TextEmbeddingConfig& text);

/// Token embeddings ("vocab_size") and learned positions, one for each of the tower's.
TextEmbeddingConfig read_learned_text(const ConfigReader& config, std::size_t d_model,
                                      std::size_t max_positions);

/// Reads the special tokens, under the names common to all config files.
void read_tokens(const ConfigReader& config, ModelConfig& model);

/// Reads the number of heads under the key `heads`, of d_model / heads dimensions each; throws if that is not an
/// integer.
AttentionConfig read_heads(const ConfigReader& config, std::string_view heads, std::size_t d_model);

/// Reads the number of key/value heads, by default one for each head; throws if it does not divide that of the heads.
void read_groups(const ConfigReader& config, std::string_view key, AttentionConfig& attention);

/// Reads an epsilon: from 0 to 1.
double read_epsilon(const ConfigReader& config, std::string_view key);

/// Reads the number of layers; throws for more than any model has, before vectors of that size are allocated.
std::size_t read_layers(const ConfigReader& config, std::string_view key);

/// present if the flag `key` is true.
Bias read_bias(const ConfigReader& config, std::string_view key);

/// A window of `size` positions including the query's own; for bidirectional attention it extends as far to both
/// sides, as in transformers.
void set_window(TowerConfig& tower, std::size_t size);

/// Reads "layer_types", or uses `usual(layer)` for each layer if the key is absent.
std::vector<Mixer> read_mixers(const ConfigReader& config, std::size_t layers,
                               Mixer (*usual)(const ConfigReader&, std::size_t layer));

/// The number of classes: num_labels, that of id2label, or what is usual, transformers' default.
std::size_t read_labels(const ConfigReader& config, std::size_t usual = 2);

/// Reads "is_causal": false makes attention bidirectional.
TowerConfig::Attends read_causality(const ConfigReader& config);

/// A decoder-only language model with one output layer. Throws unsupported for other tasks.
ModelConfig language_model(const ConfigReader& config, Task task);

/// The heads of an encoder-only model. The classifier reads the first position's state through
/// `dense` (none: unchanged) and `norm`. For Task::base there is a pooler if `pooler` is set.
struct EncoderHeads {
  std::optional<Activation> pooler{};      // of the base model
  std::optional<Activation> classifier{};  // of sequence classification
  std::optional<Activation> masked_lm{};   // of the masked-LM head
  std::optional<NormConfig> masked_lm_norm{};
  std::optional<Activation> detector{};  // of ELECTRA's discriminator
};
HeadConfig encoder_head(const ConfigReader& config, Task task, const ModelConfig& model,
                        const EncoderHeads& heads);
/// The head of an encoder-decoder that generates nothing: classes of texts, `labels` if the config names none, or
/// answers to questions. Throws unsupported for other tasks.
HeadConfig source_head(const ConfigReader& config, Task task, const ModelConfig& model,
                       std::size_t labels = 2);

}  // namespace clearformer
