// What the architectures' readers of config.json have in common.
#pragma once

#include "clearformer/architectures/architecture.h"

namespace clearformer {

NormConfig layer_norm(std::size_t d_model, double eps);
NormConfig rms_norm(std::size_t d_model, double eps);

/// The activation under `key`; throws unsupported for an unknown one. Also notes its name.
Activation read_activation(const ConfigReader& config, std::string_view key, ModelConfig& model);

/// Special tokens, under the names all config files use.
void read_tokens(const ConfigReader& config, ModelConfig& model);

/// How many heads `heads` says, of d_model / heads dimensions each; throws when that is no whole
/// number.
AttentionConfig read_heads(const ConfigReader& config, std::string_view heads, std::size_t d_model);

/// What is added to a variance: from 0 to 1.
double read_epsilon(const ConfigReader& config, std::string_view key);

/// How many layers `key` says; throws for more than any model has, before lists of that length are made.
std::size_t read_layers(const ConfigReader& config, std::string_view key);

/// present where the flag `key` says so.
Bias read_bias(const ConfigReader& config, std::string_view key);

/// A window of `size` positions, the query's own among them; for queries that see ahead too (as
/// transformers has it) of as many before and as many behind the query.
void set_window(TowerConfig& tower, std::size_t size);

/// "layer_types", or `usual(layer)` for each layer where the key is absent.
std::vector<Span> read_spans(const ConfigReader& config, std::size_t layers,
                             Span (*usual)(const ConfigReader&, std::size_t layer));

/// The number of classes: id2label, num_labels, or 2.
std::size_t read_labels(const ConfigReader& config);

/// The stack's side of "is_causal": false lets every position see all others, too.
TowerConfig::Attends read_causality(const ConfigReader& config);

/// A decoder-only language model with one output layer. Throws unsupported for another task.
ModelConfig language_model(const ConfigReader& config, Task task);

/// The heads of an encoder-only model, whose classifier reads the first position's state through
/// `dense` (none: as it is) and `norm`. For Task::base there is a pooler where `pooler` says so.
struct EncoderHeads {
  std::optional<Activation> pooler;      // of the base model
  std::optional<Activation> classifier;  // of sequence classification
  std::optional<Activation> masked_lm;   // of the masked-LM head
  std::optional<NormConfig> masked_lm_norm;
};
HeadConfig encoder_head(const ConfigReader& config, Task task, const ModelConfig& model,
                        const EncoderHeads& heads);

}  // namespace clearformer
