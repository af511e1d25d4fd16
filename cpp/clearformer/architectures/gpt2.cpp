// GPT-2: pre-norm decoder with learned positions and weights stored (in, out).
// Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"; transformers'
// GPT2LMHeadModel.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace gpt2 {

constexpr std::string_view kRules = R"(
embed wte
pos_embed wpe
blocks h
ln1 ln_1
q_proj c_attn 0/3 turned
k_proj c_attn 1/3 turned
v_proj c_attn 2/3 turned
o_proj c_proj turned
ln2 ln_2
up_proj c_fc turned
down_proj c_proj turned
ln_final ln_f
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "transformer.";
constexpr std::string_view kIgnored = "*.attn.bias *.attn.masked_bias";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50257,"n_positions":1024,"n_embd":768,"n_layer":12,"n_head":12,
"n_inner":null,"activation_function":"gelu_new","layer_norm_epsilon":1e-5,
"scale_attn_weights":true,"bos_token_id":50256,"eos_token_id":50256,"pad_token_id":null,
"scale_attn_by_inverse_layer_idx":false,"tie_word_embeddings":true)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("add_cross_attention":false)",
    .other_names = R"("hidden_size":"n_embd","max_position_embeddings":"n_positions",
"num_attention_heads":"n_head","num_hidden_layers":"n_layer")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task);
  TowerConfig& tower = model.tower;
  tower.stack.scale_by_depth = config.flag("scale_attn_by_inverse_layer_idx");
  AttentionConfig& attention = tower.stack.block.attention;
  attention.bias = Bias::present;
  if (!config.flag("scale_attn_weights")) attention.scale = 1.0;
  tower.text = read_learned_text(config, tower.d_model(), tower.max_positions);
  return model;
}

}  // namespace gpt2

ModelConfig read_gpt_like(const ConfigReader& config, Task task, const GptKeys& keys) {
  ModelConfig model = language_model(config, task);
  const std::size_t d_model = config.size(keys.d_model),
                    wide = config.product(keys.d_model, 4, d_model);
  TowerConfig& tower = model.tower;
  if (!keys.positions.empty()) tower.max_positions = config.size(keys.positions);
  tower.stack.layers = read_layers(config, keys.layers);
  BlockConfig& block = tower.stack.block;
  block.norm =
      layer_norm(d_model, keys.epsilon.empty() ? 1e-5 : read_epsilon(config, keys.epsilon));
  block.attention = read_heads(config, keys.heads, d_model);
  model.activation = keys.fixed_activation;
  block.feed_forward = {d_model, keys.hidden.empty() ? wide : config.size(keys.hidden, wide),
                        keys.activation.empty() ? *activation_named(model.activation)
                                                : read_activation(config, keys.activation, model)};
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  text.d_model = d_model;
  tower.text = text;
  model.output = {d_model, text.vocabulary};
  return model;
}

const Architecture kGpt2{"gpt2",       gpt2::kKeys, gpt2::read_config, gpt2::kPrefixes,
                         gpt2::kRules, {},          gpt2::kIgnored};

}  // namespace clearformer
