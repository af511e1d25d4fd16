// GPT-2: pre-norm decoder with learned positions and weights stored (in, out).
// Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"; transformers'
// GPT2LMHeadModel.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

namespace gpt2 {

constexpr NameRule kRules[] = {
    {"embed", "wte"},
    {"pos_embed", "wpe"},
    {"blocks", "h"},
    {"ln1", "ln_1"},
    {"q_proj", "c_attn", 0, 3, Layout::in_out},
    {"k_proj", "c_attn", 1, 3, Layout::in_out},
    {"v_proj", "c_attn", 2, 3, Layout::in_out},
    {"o_proj", "c_proj", 0, 1, Layout::in_out},
    {"ln2", "ln_2"},
    {"up_proj", "c_fc", 0, 1, Layout::in_out},
    {"down_proj", "c_proj", 0, 1, Layout::in_out},
    {"ln_final", "ln_f"},
    {"unembed", "/lm_head"},
};
constexpr std::string_view kPrefixes[] = {"transformer."};
constexpr std::string_view kIgnored[] = {"*.attn.bias", "*.attn.masked_bias"};

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
  ModelConfig model = language_model(config, task);
  const std::size_t d_model = config.size("n_embd");
  TowerConfig& tower = model.tower;
  tower.max_positions = config.size("n_positions");
  tower.stack.layers = read_layers(config, "n_layer");
  tower.stack.scale_by_depth = config.flag("scale_attn_by_inverse_layer_idx");
  BlockConfig& block = tower.stack.block;
  block.norm = layer_norm(d_model, read_epsilon(config, "layer_norm_epsilon"));
  block.attention = read_heads(config, "n_head", d_model);
  block.attention.bias = Bias::present;
  if (!config.flag("scale_attn_weights")) block.attention.scale = 1.0;
  block.feed_forward = {d_model, config.size("n_inner", 4 * d_model),
                        read_activation(config, "activation_function", model)};
  tower.text = read_learned_text(config, d_model, tower.max_positions);
  model.output = {d_model, tower.text->vocabulary};
  return model;
}

}  // namespace gpt2

const Architecture kGpt2{"gpt2",       gpt2::kKeys, gpt2::read_config, gpt2::kPrefixes,
                         gpt2::kRules, {},          gpt2::kIgnored};

}  // namespace clearformer
