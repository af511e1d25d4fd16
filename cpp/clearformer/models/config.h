// ModelConfig: what a config.json says, in terms every architecture shares.
// Each architecture has one file that fills it and names its weights (see llama.cpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clearformer/models/head.h"
#include "clearformer/models/tower.h"
#include "clearformer/weights/config_reader.h"
#include "clearformer/weights/name_map.h"

namespace clearformer {

/// What a model is loaded for, as the Hugging Face class names say it (AutoModel, …ForMaskedLM, …).
enum class Task {
  base,
  masked_lm,
  sequence_classification,
  token_classification,
  question_answering,
  causal_lm,
  seq2seq_lm,
  image_classification,
};

/// "base", "masked-lm", …
std::string_view to_string(Task task);
/// The task of that name; "zero-shot-image-classification" is base, "speech-seq2seq" is seq2seq-lm.
/// Throws unsupported, listing the known ones.
Task task_named(std::string_view name);

/// The four shapes of model.
enum class ModelKind { encoder_only, decoder_only, encoder_decoder, dual_encoder };

struct ModelConfig {
  std::string model_type;  // "llama"
  Task task = Task::base;
  ModelKind kind = ModelKind::decoder_only;
  TowerConfig tower;                  // the only one; the encoder; CLIP's text tower
  std::optional<TowerConfig> second;  // the decoder; CLIP's vision tower
  std::optional<HeadConfig> head;     // encoder-only: of the task, or the pooler; CLIP's text head
  std::optional<HeadConfig> second_head;    // DeiT's distillation classifier; CLIP's vision head
  OutputConfig output;                      // decoder-only, encoder-decoder: logits
  bool output_bias_may_be_missing = false;  // zeros that some files leave out
  bool tied = false;                        // the output layer uses the embedding table
  bool own_target_embedding = false;        // the decoder's table is not the encoder's
  std::string activation;                   // as the config spells it
  std::vector<std::int32_t> eos_token_ids;
  std::optional<std::int32_t> bos_token_id;
  std::optional<std::int32_t> pad_token_id;
  std::optional<std::int32_t> decoder_start_token_id;
  bool prompts_begin_themselves = false;  // Whisper: no start token is put before decoder_input_ids
  std::optional<std::int32_t>
      pooled_token_id;  // CLIP: whose position is read; none: the highest id

  /// The tower that makes text: the decoder of an encoder-decoder.
  const TowerConfig& main() const { return kind == ModelKind::encoder_decoder ? *second : tower; }
  std::size_t n_layers() const { return main().stack.layers; }
  std::size_t d_model() const { return main().d_model(); }
  std::size_t n_ctx() const { return main().max_positions; }
  std::size_t d_vocab() const { return main().text ? main().text->vocabulary : 0; }
};

/// One way of spelling names among several; `marker` occurs in the names of files that use it.
struct KeyScheme {
  std::string_view marker;
  std::span<const NameRule> rules;  // tried before the architecture's own
};

/// A known architecture: its "model_type", how to read its config, how its checkpoint spells names.
struct Architecture {
  std::string_view model_type;
  ModelConfig (*read_config)(const ConfigReader&, Task);
  std::span<const std::string_view> prefixes;  // of the trunk, which files may leave out: "bert."
  std::span<const NameRule> rules;
  std::span<const KeyScheme> schemes = {};
  std::span<const std::string_view> ignored = {};  // patterns of tensors that hold nothing of use
  Task usual_task = Task::causal_lm;               // where config.json does not say

  /// How this checkpoint spells the names of the shared layers.
  NameMap names(const Weights& weights) const;
  /// All the ways a checkpoint may spell them, for when its files are not open yet.
  std::vector<NameMap> spellings() const;
};

/// The architecture that `config` names; throws unsupported, listing the known ones.
const Architecture& architecture_of(const ConfigReader& config);
/// What the config's "architectures" was saved for; the architecture's usual task where it says nothing.
Task task_of(const ConfigReader& config);

/// The whole config, for the task that is asked for or, without one, for the one the config names.
/// Throws malformed_config or unsupported; so it does for weights that are stored quantized.
ModelConfig read_model_config(const ConfigReader& config, std::optional<Task> task);

/// Throws unsupported: `config`'s model_type has no head for `task`.
[[noreturn]] void refuse_task(const ConfigReader& config, Task task);

}  // namespace clearformer
