// ModelConfig: what a config.json says, in terms every architecture shares. The room architectures/
// fills it, one file a model_type.
#pragma once

#include <string>
#include <vector>

#include "clearformer/models/head.h"
#include "clearformer/models/tower.h"

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
/// The task of that name, or of the pipeline of that name: "fill-mask" is masked-lm. Throws unsupported,
/// listing the known ones.
Task task_named(std::string_view name);
/// The task that a Hugging Face class is for, by how its name ends: "BertForMaskedLM", "LlamaModel".
std::optional<Task> task_of_class(std::string_view class_name);

/// The four shapes of model.
enum class ModelKind { encoder_only, decoder_only, encoder_decoder, dual_encoder };
/// "encoder-only", …
std::string_view to_string(ModelKind kind);

/// What config.json says, in the terms of the shared layers.
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
  /// How many tokens a sequence may have; rotary positions go on behind n_ctx().
  std::size_t longest() const { return main().longest(); }
  std::size_t d_vocab() const { return main().text ? main().text->vocabulary : 0; }
};

/// The pipelines, by Hugging Face's names, that do what such a model is loaded for; the first is what
/// it is taken for.
std::vector<std::string_view> pipelines_of(const ModelConfig& config);

}  // namespace clearformer
