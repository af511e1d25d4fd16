// Phi (1, 1.5, 2): attention and feed-forward in parallel after one LayerNorm, rotary positions on
// part of each head, biases everywhere.
// Source: Gunasekar et al. 2023, arXiv 2306.11644; transformers' PhiForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace phi {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
o_proj dense
q_norm q_layernorm
k_norm k_layernorm
up_proj fc1
down_proj fc2
ln_final final_layernorm
unembed /lm_head
)";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":51200,"hidden_size":2048,"intermediate_size":8192,
"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"gelu_new",
"max_position_embeddings":2048,"layer_norm_eps":1e-5,"tie_word_embeddings":false,
"rope_parameters":null,"qk_layernorm":false,"bos_token_id":1,"eos_token_id":2,
"pad_token_id":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":0.5,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task, {});
  BlockConfig& block = model.tower.stack.block;
  block.order = NormOrder::parallel;
  block.attention.bias = Bias::present;
  if (config.flag("qk_layernorm")) {
    block.attention.head_norm = layer_norm(block.attention.d_head, block.norm.eps);
  }
  block.feed_forward.gate = Gate::none;
  block.feed_forward.bias = Bias::present;
  model.output.bias = Bias::present;
  return model;
}

}  // namespace phi

const Architecture kPhi{"phi",       phi::kKeys, phi::read_config, kLlamaPrefixes,
                        phi::kRules, {},         kLlamaIgnored};

}  // namespace clearformer
