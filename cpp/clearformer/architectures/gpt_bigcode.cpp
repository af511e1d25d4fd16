// GPT-BigCode (SantaCoder, StarCoder 1): GPT-2 whose heads may share their keys and values, weights stored (out, in).
// Source: Ben Allal et al. 2023, arXiv 2301.03988; transformers' GPTBigCodeForCausalLM.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace gpt_bigcode {

constexpr std::string_view kRules = R"(
embed wte
pos_embed wpe
blocks h
ln1 ln_1
q_proj c_attn 0/0/n
k_proj c_attn 2/0/n
v_proj c_attn 1/0/n
o_proj c_proj
ln2 ln_2
up_proj c_fc
down_proj c_proj
ln_final ln_f
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "transformer.";
constexpr std::string_view kIgnored = "*.attn.bias *.attn.masked_bias";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50257,"n_positions":1024,"n_embd":768,"n_layer":12,"n_head":12,
"n_inner":null,"activation_function":"gelu_pytorch_tanh","layer_norm_epsilon":1e-5,
"scale_attn_weights":true,"bos_token_id":50256,"eos_token_id":50256,"pad_token_id":null,
"multi_query":true,"tie_word_embeddings":true)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("add_cross_attention":false)",
    .other_names = R"("hidden_size":"n_embd","max_position_embeddings":"n_positions",
"num_attention_heads":"n_head","num_hidden_layers":"n_layer")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task);
  TowerConfig& tower = model.tower;
  AttentionConfig& attention = tower.stack.block.attention;
  attention.bias = Bias::present;
  if (config.flag("multi_query")) attention.num_key_value_heads = 1;
  if (!config.flag("scale_attn_weights")) attention.scale = 1.0;
  tower.text = read_learned_text(config, tower.d_model(), tower.max_positions);
  return model;
}

}  // namespace gpt_bigcode

const Architecture kGptBigCode{
    "gpt_bigcode",          gpt_bigcode::kKeys,  gpt_bigcode::read_config,
    gpt_bigcode::kPrefixes, gpt_bigcode::kRules, {},
    gpt_bigcode::kIgnored};

}  // namespace clearformer
