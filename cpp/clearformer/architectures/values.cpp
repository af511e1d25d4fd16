#include "clearformer/architectures/values.h"

#include <cmath>

namespace clearformer {

NormConfig layer_norm(std::size_t d_model, double eps) { return {NormKind::layer, {d_model}, eps}; }

NormConfig plain_layer_norm(std::size_t d_model, double eps) {
  NormConfig norm = layer_norm(d_model, eps);
  norm.weight = norm.bias = false;
  return norm;
}

NormConfig rms_norm(std::size_t d_model, double eps) { return {NormKind::rms, {d_model}, eps}; }

Activation read_activation(const ConfigReader& config, std::string_view key, ModelConfig& model) {
  const std::string name = config.text(key);
  const auto activation = activation_named(name);
  if (!activation) config.refuse(ErrorCode::unsupported, key, "is \"", name, "\"");
  model.activation = name;
  return *activation;
}

float embedding_scale(const ConfigReader& config, std::size_t d_model) {
  return config.flag("scale_embedding") ? std::sqrt(static_cast<float>(d_model)) : 1.0f;
}

void read_padding(const ConfigReader& config, TextEmbeddingConfig& text) {
  text.padding_id = config.row("pad_token_id", text.vocabulary);
}

TextEmbeddingConfig read_learned_text(const ConfigReader& config, std::size_t d_model,
                                      std::size_t max_positions) {
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  text.d_model = d_model;
  text.positions = TextEmbeddingConfig::Positions::learned;
  text.position_rows = max_positions;
  return text;
}

void read_tokens(const ConfigReader& config, ModelConfig& model) {
  model.eos_token_ids = config.tokens("eos_token_id");
  model.bos_token_id = config.token("bos_token_id");
  model.pad_token_id = config.token("pad_token_id");
  if (config.knows("decoder_start_token_id")) {
    model.decoder_start_token_id = config.token("decoder_start_token_id");
  }
}

AttentionConfig read_heads(const ConfigReader& config, std::string_view heads,
                           std::size_t d_model) {
  AttentionConfig attention;
  attention.d_model = d_model;
  attention.num_heads = attention.num_key_value_heads = config.size(heads);
  if (d_model % attention.num_heads != 0) {
    config.refuse_value(heads, "is ", attention.num_heads, " and does not divide ", d_model,
                        ", the size of the model");
  }
  attention.d_head = d_model / attention.num_heads;
  config.product(heads, 3, d_model);  // queries, keys and values
  return attention;
}

void read_groups(const ConfigReader& config, std::string_view key, AttentionConfig& attention) {
  std::size_t& groups = attention.num_key_value_heads;
  groups = config.size(key, attention.num_heads);
  if (attention.num_heads % groups == 0) return;
  config.refuse_value(key, "is ", groups, " and does not divide num_attention_heads ",
                      attention.num_heads);
}

double read_epsilon(const ConfigReader& config, std::string_view key) {
  return config.number_in(key, 0.0, 1.0);
}

std::size_t read_layers(const ConfigReader& config, std::string_view key) {
  constexpr std::size_t kMost = 10000;
  const std::size_t layers = config.size(key);
  if (layers > kMost) config.refuse_value(key, "is ", layers, ", more than ", kMost, " layers");
  return layers;
}

Bias read_bias(const ConfigReader& config, std::string_view key) {
  return config.flag(key) ? Bias::present : Bias::none;
}

void set_window(TowerConfig& tower, std::size_t size) {
  const bool ahead = tower.attends == TowerConfig::Attends::to_all;
  tower.window_before = ahead ? size : size - 1;
  tower.window_after = ahead ? size : 0;
}

std::vector<Mixer> read_mixers(const ConfigReader& config, std::size_t layers,
                               Mixer (*usual)(const ConfigReader&, std::size_t layer)) {
  std::vector<Mixer> mixers;
  const std::vector<std::string> types = config.texts("layer_types");
  if (config.is_set("layer_types") && types.size() != layers) {
    config.refuse_value("layer_types", "names ", types.size(), " layers of ", layers);
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (!config.is_set("layer_types")) {
      mixers.push_back(usual(config, layer));
    } else if (types[layer] == "full_attention" || types[layer] == "sliding_attention") {
      mixers.push_back(types[layer] == "full_attention" ? Mixer::full : Mixer::local);
    } else {
      config.refuse(ErrorCode::unsupported, "layer_types", "holds \"", types[layer], "\"");
    }
  }
  return mixers;
}

std::size_t read_labels(const ConfigReader& config, std::size_t usual) {
  const auto labels = config.object("id2label");
  const std::size_t named = labels ? labels->root().object().size() : 0;
  return config.size("num_labels", named == 0 ? usual : named);
}

TowerConfig::Attends read_causality(const ConfigReader& config) {
  return !config.knows("is_causal") || config.flag("is_causal") ? TowerConfig::Attends::to_the_past
                                                                : TowerConfig::Attends::to_all;
}

ModelConfig language_model(const ConfigReader& config, Task task) {
  if (task != Task::causal_lm && task != Task::base) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type", "");
  model.task = task;
  model.kind = ModelKind::decoder_only;
  model.tied = config.flag("tie_word_embeddings");
  model.tower.attends = read_causality(config);
  read_tokens(config, model);
  return model;
}

HeadConfig encoder_head(const ConfigReader& config, Task task, const ModelConfig& model,
                        const EncoderHeads& heads) {
  HeadConfig head;
  head.d_model = model.tower.d_model();
  switch (task) {
    case Task::base:
      head.pick = HeadConfig::Pick::first;
      head.dense = heads.pooler;
      break;
    case Task::masked_lm:
      head.dense = heads.masked_lm;
      head.norm = heads.masked_lm_norm;
      head.dense_outputs = model.tower.text->word_width();
      head.outputs = model.tower.text->vocabulary;
      break;
    case Task::sequence_classification:
    case Task::image_classification:
      if (model.tower.image.has_value() != (task == Task::image_classification)) {
        refuse_task(config, task);
      }
      head.pick = HeadConfig::Pick::first;
      head.dense = heads.classifier;
      head.outputs = read_labels(config);
      break;
    case Task::token_classification: head.outputs = read_labels(config); break;
    case Task::question_answering: head.outputs = 2; break;
    case Task::replaced_token_detection:
      if (!heads.detector) refuse_task(config, task);
      head.dense = heads.detector;
      head.outputs = 1;
      break;
    default: refuse_task(config, task);
  }
  return head;
}

HeadConfig source_head(const ConfigReader& config, Task task, const ModelConfig& model,
                       std::size_t labels) {
  const bool classifies = task == Task::sequence_classification;
  if (!classifies && task != Task::question_answering) refuse_task(config, task);
  HeadConfig head = encoder_head(config, task, model, {.classifier = Activation::tanh});
  if (!classifies) return head;
  head.pick = HeadConfig::Pick::given;
  head.outputs = read_labels(config, labels);
  return head;
}

}  // namespace clearformer
