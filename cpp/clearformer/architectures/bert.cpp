// BERT: post-norm encoder, learned positions, token types, pooler; also MiniLM and most sentence
// embedding models.
// Source: Devlin et al. 2018, arXiv 1810.04805; transformers' BertModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

ModelConfig read_bert_trunk(const ConfigReader& config, Task task, const BertKeys& keys) {
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_only;
  model.tied = config.flag("tie_word_embeddings");
  read_tokens(config, model);
  const std::size_t d_model = config.size(keys.d_model);
  const NormConfig norm = layer_norm(
      d_model, config.knows("layer_norm_eps") ? read_epsilon(config, "layer_norm_eps") : 1e-12);
  TowerConfig& tower = model.tower;
  tower.max_positions = config.size("max_position_embeddings");
  tower.stack.layers = read_layers(config, keys.layers);
  tower.stack.final_norm = FinalNorm::none;
  BlockConfig& block = tower.stack.block;
  block.order = NormOrder::post;
  block.norm = norm;
  block.attention = read_heads(config, keys.heads, d_model);
  block.attention.bias = Bias::present;
  block.feed_forward = {d_model, config.size(keys.d_hidden),
                        read_activation(config, keys.activation, model)};
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  read_padding(config, text);
  text.d_model = d_model;
  text.positions = TextEmbeddingConfig::Positions::learned;
  text.position_rows = tower.max_positions;
  text.norm = norm;
  tower.text = text;
  return model;
}

HeadConfig bert_heads(const ConfigReader& config, Task task, const ModelConfig& model,
                      Activation masked_lm) {
  EncoderHeads heads;
  heads.pooler = heads.classifier = Activation::tanh;
  heads.masked_lm = masked_lm;
  heads.masked_lm_norm = model.tower.stack.block.norm;
  return encoder_head(config, task, model, heads);
}

void count_positions(const ConfigReader& config, std::int32_t padding, TowerConfig& tower) {
  TextEmbeddingConfig& text = *tower.text;
  text.uncounted_id = text.padding_id = padding;
  text.position_offset = static_cast<std::size_t>(padding) + 1;
  if (text.position_rows <= text.position_offset) {
    config.refuse_value("max_position_embeddings", "is ", text.position_rows,
                        " and leaves no position behind the padding token ", padding);
  }
  tower.max_positions = text.position_rows - text.position_offset;
}

void read_embedding_size(const ConfigReader& config, TowerConfig& tower) {
  TextEmbeddingConfig& text = *tower.text;
  text.d_words = config.size("embedding_size");
  text.norm->shape = {text.d_words};
  if (text.d_words != text.d_model) text.projected = TextEmbeddingConfig::Projected::after_norm;
  text.projection_bias = Bias::present;
}

namespace bert {

constexpr std::string_view kRules = R"(
classifier.dense pooler.dense
classifier.out /classifier
token_classifier.out /classifier
qa.out /qa_outputs
mlm.dense /cls.predictions.transform.dense
mlm.norm /cls.predictions.transform.LayerNorm
mlm.bias /cls.predictions.bias
mlm.out /cls.predictions.decoder
)";
constexpr std::string_view kPrefixes = "bert.";
constexpr std::string_view kIgnored = "*embeddings.position_ids";

constexpr KeyTable kKeys{.fields = R"("vocab_size":30522,"hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"intermediate_size":3072,"hidden_act":"gelu",
"max_position_embeddings":512,"type_vocab_size":2,"layer_norm_eps":1e-12,"pad_token_id":0,
"bos_token_id":null,"eos_token_id":null,"tie_word_embeddings":true)",
                         .neutral = kBertNeutral};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bert_trunk(config, task, {});
  model.tower.text->token_types = config.size("type_vocab_size");
  model.head = bert_heads(config, task, model, model.tower.stack.block.feed_forward.activation);
  return model;
}

}  // namespace bert

const Architecture kBert{"bert",       bert::kKeys, bert::read_config, bert::kPrefixes,
                         bert::kRules, kBertNames,  bert::kIgnored,    Task::base};

}  // namespace clearformer
