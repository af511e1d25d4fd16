#include "clearformer/architectures/bart_like.h"

namespace clearformer {

namespace bart_like {

// Reads one of the two stacks; `side` is "encoder" or "decoder".
TowerConfig read_tower(const ConfigReader& config, ModelConfig& model, const std::string& side) {
  TowerConfig tower;
  const std::size_t d_model = config.size("d_model");
  tower.stack.layers = read_layers(config, side + "_layers");
  tower.stack.final_norm = FinalNorm::none;
  tower.stack.blocks = "";
  BlockConfig& block = tower.stack.block;
  block.order = NormOrder::post;
  block.norm = layer_norm(d_model, 1e-5);
  block.attention = read_heads(config, side + "_attention_heads", d_model);
  block.attention.bias = Bias::present;
  block.feed_forward = {d_model, config.size(side + "_ffn_dim"),
                        read_activation(config, "activation_function", model)};
  return tower;
}

}  // namespace bart_like

ModelConfig read_bart_like(const ConfigReader& config, Task task, std::size_t labels) {
  const bool generates = task == Task::seq2seq_lm || task == Task::base;
  if (!generates && labels == 0) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_decoder;
  model.tied = config.flag("tie_word_embeddings");
  read_tokens(config, model);
  model.tower = bart_like::read_tower(config, model, "encoder");
  model.second = bart_like::read_tower(config, model, "decoder");
  model.second->attends = read_causality(config);
  model.second->cross_attention = true;
  model.output = {config.size("d_model"), config.size("vocab_size"), Bias::present};
  model.output_bias_may_be_missing = true;
  model.own_target_embedding = !model.tied;
  if (!generates) model.head = source_head(config, task, model, labels);
  return model;
}

void normalize_before(ModelConfig& model) {
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    tower->stack.block.order = NormOrder::pre;
    tower->stack.final_norm = FinalNorm::present;
  }
}

void normalize_embeddings(ModelConfig& model) {
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    tower->text->norm = tower->stack.block.norm;
  }
}

void embed_text(const ConfigReader& config, ModelConfig& model,
                TextEmbeddingConfig::Positions positions) {
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    TextEmbeddingConfig text;
    text.vocabulary = model.output.vocabulary;
    read_padding(config, text);
    text.d_model = tower->d_model();
    text.scale = embedding_scale(config, text.d_model);
    text.positions = positions;
    text.layout = SinusoidLayout::halves;
    tower->max_positions = config.size("max_position_embeddings");
    if (positions == TextEmbeddingConfig::Positions::learned) {
      text.position_offset = 2;
      text.position_rows = tower->max_positions + 2;
    }
    tower->text = text;
  }
}

}  // namespace clearformer
