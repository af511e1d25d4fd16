// GPT-NeoX (Pythia): attention and feed-forward in parallel after a norm each, rotary positions on part of each head,
// q, k and v stacked head by head.
// Source: Black et al. 2022, arXiv 2204.06745; Biderman et al. 2023, arXiv 2304.01373; transformers'
// GPTNeoXForCausalLM.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/rotary_config.h"

namespace clearformer {

namespace gpt_neox {

constexpr std::string_view kRules = R"(
embed embed_in
blocks layers
ln1 input_layernorm
attn attention
q_proj query_key_value 0/3/n
k_proj query_key_value 1/3/n
v_proj query_key_value 2/3/n
o_proj dense
ln2 post_attention_layernorm
up_proj dense_h_to_4h
down_proj dense_4h_to_h
ln_final final_layer_norm
unembed /embed_out
)";
constexpr std::string_view kPrefixes = "gpt_neox.";
constexpr std::string_view kIgnored =
    "*.attention.bias *.attention.masked_bias *.rotary_emb.inv_freq";

constexpr KeyTable kKeys{.fields = R"("vocab_size":50432,"hidden_size":6144,"num_hidden_layers":44,
"num_attention_heads":64,"intermediate_size":24576,"hidden_act":"gelu",
"max_position_embeddings":2048,"layer_norm_eps":1e-5,"bos_token_id":0,"eos_token_id":2,
"pad_token_id":null,"tie_word_embeddings":false,"use_parallel_residual":true,
"rope_parameters":null,"attention_bias":true)",
                         .others = R"("rotary_emb_base":10000,"rotary_pct":0.25,"rope_scaling":null,
"partial_rotary_factor":null,"original_max_position_embeddings":null)",
                         .since_5_2 = R"("is_causal":true)",
                         .neutral = R"("head_dim":null)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task,
                                    {.d_model = "hidden_size",
                                     .layers = "num_hidden_layers",
                                     .heads = "num_attention_heads",
                                     .hidden = "intermediate_size",
                                     .epsilon = "layer_norm_eps",
                                     .positions = "max_position_embeddings",
                                     .activation = "hidden_act"});
  TowerConfig& tower = model.tower;
  BlockConfig& block = tower.stack.block;
  if (config.flag("use_parallel_residual")) block.order = NormOrder::parallel_two;
  block.attention.bias = read_bias(config, "attention_bias");
  tower.rotary = read_rotary(config, block.attention.d_head, tower.max_positions,
                             {.theta = "rotary_emb_base", .part = "rotary_pct"});
  return model;
}

}  // namespace gpt_neox

const Architecture kGptNeoX{"gpt_neox",          gpt_neox::kKeys,  gpt_neox::read_config,
                            gpt_neox::kPrefixes, gpt_neox::kRules, {},
                            gpt_neox::kIgnored};

}  // namespace clearformer
