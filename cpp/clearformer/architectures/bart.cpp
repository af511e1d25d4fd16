// BART: post-norm encoder-decoder with learned positions and normalized embeddings.
// Source: Lewis et al. 2019, arXiv 1910.13461; transformers' BartForConditionalGeneration.

#include <cmath>

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"*.embed.ln", "*.layernorm_embedding"},
    {"*.pos_embed", "*.embed_positions"},
    {"encoder.*.ln2", "encoder.layers.*.final_layer_norm"},
    {"decoder.*.ln2", "decoder.layers.*.encoder_attn_layer_norm"},
    {"decoder.*.ln3", "decoder.layers.*.final_layer_norm"},
    {"encoder", "encoder.layers"},
    {"decoder", "decoder.layers"},
    {"ln1", "self_attn_layer_norm"},
    {"attn.o_proj", "self_attn.out_proj"},
    {"attn", "self_attn"},
    {"cross_attn.o_proj", "encoder_attn.out_proj"},
    {"cross_attn", "encoder_attn"},
    {"mlp.up_proj", "fc1"},
    {"mlp.down_proj", "fc2"},
    {"unembed.bias", "/final_logits_bias"},
    {"unembed", "/lm_head"},
};
constexpr NameRule kShared[] = {{"embed", "shared"}};
constexpr NameRule kNotShared[] = {{"embed", "decoder.embed_tokens"}};
constexpr KeyScheme kSchemes[] = {{"shared.weight", kShared}, {"", kNotShared}};
constexpr std::string_view kPrefixes[] = {"model."};
constexpr std::string_view kIgnored[] = {"*.embed_tokens.weight", "lm_head.weight"};

// One of the two stacks; `side` is "encoder" or "decoder".
TowerConfig read_tower(const ConfigReader& config, ModelConfig& model, const std::string& side) {
  TowerConfig tower;
  const std::size_t d_model = config.size("d_model");
  tower.max_positions = config.size("max_position_embeddings", 1024);
  tower.stack.layers = read_layers(config, side + "_layers");
  tower.stack.final_norm = FinalNorm::none;
  tower.stack.blocks = "";
  BlockConfig& block = tower.stack.block;
  block.order = NormOrder::post;
  block.norm = layer_norm(d_model, 1e-5);
  block.attention = read_heads(config, side + "_attention_heads", d_model);
  block.attention.bias = Bias::present;
  block.feed_forward = {d_model, config.size(side + "_ffn_dim"),
                        read_activation(config, "activation_function", "gelu", model)};
  return tower;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    TextEmbeddingConfig text;
    text.vocabulary = model.output.vocabulary;
    text.d_model = tower->d_model();
    text.scale = embedding_scale(config, text.d_model);
    text.positions = TextEmbeddingConfig::Positions::learned;
    text.position_offset = 2;
    text.position_rows = tower->max_positions + 2;
    text.norm = tower->stack.block.norm;
    tower->text = text;
  }
  return model;
}

}  // namespace

ModelConfig read_bart_like(const ConfigReader& config, Task task) {
  if (task != Task::seq2seq_lm && task != Task::base) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_decoder;
  model.tied = config.flag("tie_word_embeddings", true);
  read_tokens(config, model);
  model.tower = read_tower(config, model, "encoder");
  model.second = read_tower(config, model, "decoder");
  model.second->attends = TowerConfig::Attends::to_the_past;
  model.second->cross_attention = true;
  model.output = {config.size("d_model"), config.size("vocab_size"), Bias::present};
  model.output_bias_may_be_missing = true;
  return model;
}

float embedding_scale(const ConfigReader& config, std::size_t d_model) {
  return config.flag("scale_embedding", false) ? std::sqrt(static_cast<float>(d_model)) : 1.0f;
}

std::span<const NameRule> bart_rules() { return kRules; }

const Architecture kBart{"bart",   read_config, kPrefixes,       kRules,
                         kSchemes, kIgnored,    Task::seq2seq_lm};

}  // namespace clearformer
