// ModelConfig: the contents of a config.json in terms common to all architectures. The files in architectures/, one
// per model_type, fill it in.
#pragma once

#include <string>
#include <vector>

#include "clearformer/layers/packed_key_values.h"
#include "clearformer/models/head.h"
#include "clearformer/models/tower.h"

namespace clearformer {

/// The task a model is loaded for, after the Hugging Face classes (AutoModel, …ForMaskedLM, …).
enum class Task {
  base,
  masked_lm,
  sequence_classification,
  token_classification,
  question_answering,
  replaced_token_detection,
  causal_lm,
  seq2seq_lm,
  image_classification,
  ctc,
};

/// "base", "masked-lm", …
std::string_view to_string(Task task);
/// Each task once, in the order of their pipelines.
std::vector<Task> all_tasks();
/// The task of that name, or of the pipeline of that name: "fill-mask" is masked-lm. Throws unsupported, listing the
/// known names.
Task task_named(std::string_view name);
/// The task of a Hugging Face class, by its suffix: "BertForMaskedLM", "LlamaModel".
std::optional<Task> task_of_class(std::string_view class_name);

/// The four kinds of model.
enum class ModelKind { encoder_only, decoder_only, encoder_decoder, dual_encoder };
/// "encoder-only", …
std::string_view to_string(ModelKind kind);

/// The contents of a config.json, in terms of the shared layers.
struct ModelConfig {
  /// What the labels of whole sequences or images are: config.json's problem_type, or what the number of outputs and the
  /// type of the labels imply.
  enum class Problem { implied, regression, single_label, multi_label, soft_label };

  std::string model_type;  // "llama"
  Task task = Task::base;
  ModelKind kind = ModelKind::decoder_only;
  TowerConfig tower;                  // the only one; the encoder; CLIP's text tower
  std::optional<TowerConfig> second;  // the decoder; CLIP's vision tower
  std::optional<HeadConfig> head;     // task's head or pooler; BART's classifier; CLIP's text head
  std::optional<HeadConfig> second_head;    // DeiT's distillation classifier; CLIP's vision head
  OutputConfig output;                      // decoder-only, encoder-decoder: logits
  std::optional<HeadConfig> before_output;  // of vectors that the output layer reads (ModernBERT)
  bool output_bias_may_be_missing = false;  // zeros, which some files omit
  bool tied = false;                        // the output layer uses the embedding table
  bool own_target_embedding = false;        // the decoder has an embedding table of its own
  std::string activation;                   // as named in the config
  std::vector<std::int32_t> eos_token_ids;
  std::optional<std::int32_t> bos_token_id;
  std::optional<std::int32_t> pad_token_id;
  std::optional<std::int32_t> decoder_start_token_id;
  CacheFormat cache_format =
      CacheFormat::f32;                   // of make_cache(): an option of loading, not in the file
  bool prompts_begin_themselves = false;  // Whisper: no start token is prepended
  std::optional<std::int32_t>
      pooled_token_id;  // CLIP: the token whose position is pooled; none: the highest id
  Problem problem = Problem::implied;
  bool soft_labels =
      false;  // where nothing else is said, floats as labels are shares of the classes (DeBERTa)
  bool logit_bias = false;  // SigLIP: added to all logits, of which a sigmoid is taken

  /// Whether it has a decoder that keeps keys and values; a classifier with a language model's trunk keeps none.
  bool decodes() const {
    return !head && (kind == ModelKind::decoder_only || kind == ModelKind::encoder_decoder);
  }
  /// The tower that generates text: the decoder of an encoder-decoder, otherwise the first.
  const TowerConfig& main() const { return kind == ModelKind::encoder_decoder ? *second : tower; }
  std::size_t n_layers() const { return main().stack.layers; }
  std::size_t d_model() const { return main().d_model(); }
  std::size_t n_ctx() const { return main().max_positions; }
  /// The maximum sequence length; rotary positions continue past n_ctx().
  std::size_t longest() const { return main().longest(); }
  std::size_t d_vocab() const { return main().text ? main().text->vocabulary : 0; }
};

/// Our name for the head of a model's task, and what its hook points begin with.
std::string_view head_scope(const ModelConfig& config);

/// The pipelines such a model serves, under Hugging Face's names; the first is its default.
std::vector<std::string_view> pipelines_of(const ModelConfig& config);

/// Whether a model of the task that task_named(name) gives reads what that name stands for: texts, images or sounds.
bool serves(const ModelConfig& config, std::string_view name);

}  // namespace clearformer
