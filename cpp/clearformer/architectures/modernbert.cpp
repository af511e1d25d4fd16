// ModernBERT: pre-norm encoder with rotary positions, gated feed-forward, local attention in two of
// three layers; its decoder (Ettin) is the same with causal attention.
// Source: Warner et al. 2024, arXiv 2412.13663; Weller et al. 2025, arXiv 2507.11412; transformers' ModernBertModel,
// ModernBertDecoderForCausalLM.

#include <algorithm>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/rotary_config.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

namespace modernbert {

constexpr std::string_view kRules = R"(
embed.ln embeddings.norm
embed embeddings.tok_embeddings
blocks layers
ln1 attn_norm
q_proj Wqkv 0/3
k_proj Wqkv 1/3
v_proj Wqkv 2/3
o_proj Wo
ln2 mlp_norm
gate_proj Wi 0/2
up_proj Wi 1/2
down_proj Wo
ln_final final_norm
mlm.out /decoder
*.dense /head.dense
*.norm /head.norm
*.out /classifier
)";
constexpr std::string_view kDecoderRules = R"(
embed.ln embeddings.norm
embed embeddings.tok_embeddings
blocks layers
ln1 attn_norm
o_proj Wo
ln2 mlp_norm
gate_proj Wi 0/2
up_proj Wi 1/2
down_proj Wo
ln_final final_norm
head.dense /lm_head.dense
head.norm /lm_head.norm
unembed /decoder
*.dense /head.dense
*.norm /head.norm
*.out /classifier
)";
constexpr std::string_view kPrefixes = "model.";
constexpr std::string_view kShared = R"("vocab_size":50368,"hidden_size":768,
"intermediate_size":1152,"num_hidden_layers":22,"num_attention_heads":12,
"hidden_activation":"gelu","max_position_embeddings":8192,"norm_eps":1e-5,"norm_bias":false,
"pad_token_id":50283,"eos_token_id":50282,"bos_token_id":50281,"attention_bias":false,
"layer_types":null,"rope_parameters":null,"local_attention":128,"mlp_bias":false,
"decoder_bias":true,"classifier_bias":false,"classifier_activation":"gelu",
"tie_word_embeddings":true)";
constexpr KeyTable kKeys{
    .fields = R"("classifier_pooling":"cls")",
    .shared_fields = kShared,
    .others = R"("global_rope_theta":160000,"local_rope_theta":10000,"rope_scaling":null,
"partial_rotary_factor":null,"global_attn_every_n_layers":3,"sliding_window":null)",
    .neutral = R"("is_causal":false)"};
constexpr KeyTable kDecoderKeys{
    .fields = kShared, .others = kKeys.others, .since_5_2 = R"("is_causal":true)"};

Mixer usual_mixer(const ConfigReader& config, std::size_t layer) {
  return layer % config.size("global_attn_every_n_layers") == 0 ? Mixer::full : Mixer::local;
}

TowerConfig read_tower(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower = model.tower;
  const std::size_t d_model = config.size("hidden_size");
  NormConfig norm = layer_norm(d_model, read_epsilon(config, "norm_eps"));
  norm.bias = config.flag("norm_bias");
  tower.max_positions = config.size("max_position_embeddings");
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  tower.stack.mixers = read_mixers(config, tower.stack.layers, usual_mixer);
  tower.stack.normalized_input = true;
  BlockConfig& block = tower.stack.block;
  block.norm = norm;
  block.attention = read_heads(config, "num_attention_heads", d_model);
  block.attention.bias = read_bias(config, "attention_bias");
  block.feed_forward = {d_model, config.size("intermediate_size"),
                        read_activation(config, "hidden_activation", model), Gate::present,
                        read_bias(config, "mlp_bias")};
  const std::size_t d_head = block.attention.d_head;
  tower.rotary = read_rotary(config, d_head, tower.max_positions,
                             {.layer_type = "full_attention",
                              .theta = "global_rope_theta",
                              .partial = RotaryKeys::Partial::ignored});
  tower.local_rotary = read_rotary(config, d_head, tower.max_positions,
                                   {.layer_type = "sliding_attention",
                                    .theta = "local_rope_theta",
                                    .partial = RotaryKeys::Partial::ignored});
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  read_padding(config, text);
  text.d_model = d_model;
  text.norm = norm;
  tower.text = text;
  return tower;
}

// "sliding_window" is an alternative name for half of "local_attention".
std::size_t read_window(const ConfigReader& config) {
  return config.size("sliding_window", config.size("local_attention") / 2);
}

// What precedes the output layer or the classifier.
void add_dense(const ConfigReader& config, const ModelConfig& model, HeadConfig& head) {
  ModelConfig classifier;  // not the model: its activation name differs
  head.dense = read_activation(config, "classifier_activation", classifier);
  head.dense_bias = read_bias(config, "classifier_bias");
  head.norm = model.tower.stack.block.norm;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_only;
  model.tied = config.flag("tie_word_embeddings");
  read_tokens(config, model);
  model.tower = read_tower(config, model);
  model.tower.window_before = model.tower.window_after = read_window(config);
  HeadConfig head = encoder_head(config, task, model, {});
  if (task == Task::base) return model;
  add_dense(config, model, head);
  if (task == Task::masked_lm && !config.flag("decoder_bias")) head.bias = Bias::none;
  const std::string pooling = config.text("classifier_pooling");
  if (pooling != "cls" && pooling != "mean") {
    config.refuse(ErrorCode::unsupported, "classifier_pooling", "is \"", pooling, "\"");
  }
  if (task == Task::sequence_classification && pooling == "mean") {
    head.pick = HeadConfig::Pick::mean;
  }
  model.head = head;
  return model;
}

ModelConfig read_decoder(const ConfigReader& config, Task task) {
  ModelConfig model = language_model(config, task);
  TowerConfig& tower = model.tower = read_tower(config, model);
  const bool local = std::find(tower.stack.mixers.begin(), tower.stack.mixers.end(),
                               Mixer::local) != tower.stack.mixers.end();
  if (local) set_window(tower, read_window(config));
  model.output = {tower.d_model(), tower.text->vocabulary, read_bias(config, "decoder_bias")};
  HeadConfig head;
  head.d_model = tower.d_model();
  add_dense(config, model, head);
  model.before_output = head;
  return model;
}

}  // namespace modernbert

const Architecture kModernBert{"modernbert",
                               modernbert::kKeys,
                               modernbert::read_config,
                               modernbert::kPrefixes,
                               modernbert::kRules,
                               {},
                               {},
                               Task::base};

const Architecture kModernBertDecoder{"modernbert-decoder", modernbert::kDecoderKeys,
                                      modernbert::read_decoder, modernbert::kPrefixes,
                                      modernbert::kDecoderRules};

}  // namespace clearformer
