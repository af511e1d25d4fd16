// GLM (GLM-4, GLM-Edge) and GLM-4-0414: Llama with interleaved rotary positions of half of each head, and gate and up in
// one tensor; the second also with norms behind the sub-layers.
// Source: GLM Team 2024, arXiv 2406.12793; transformers' GlmForCausalLM, Glm4ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace glm {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
ln2 post_attention_layernorm
gate_proj gate_up_proj 0/2
up_proj gate_up_proj 1/2
ln_final norm
unembed /lm_head
)";
constexpr std::string_view kRules4 = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
ln1_post post_self_attn_layernorm
ln2 post_attention_layernorm
ln2_post post_mlp_layernorm
gate_proj gate_up_proj 0/2
up_proj gate_up_proj 1/2
ln_final norm
unembed /lm_head
)";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,
"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,
"hidden_act":"silu","max_position_embeddings":131072,"rms_norm_eps":1.5625e-7,
"tie_word_embeddings":false,"rope_parameters":null,"pad_token_id":151329,
"eos_token_id":null,"bos_token_id":null,"attention_bias":true)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":0.5,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task, {});
  if (!config.is_set("eos_token_id")) model.eos_token_ids = {151329, 151336, 151338};
  model.tower.stack.block.attention.bias.output = Bias::none;
  model.tower.rotary->layout = RotaryLayout::interleaved;
  return model;
}

ModelConfig read_config4(const ConfigReader& config, Task task) {
  ModelConfig model = read_config(config, task);
  model.tower.stack.block.order = NormOrder::both;
  return model;
}

}  // namespace glm

const Architecture kGlm{"glm",       glm::kKeys, glm::read_config, kLlamaPrefixes,
                        glm::kRules, {},         kLlamaIgnored};
const Architecture kGlm4{"glm4",       glm::kKeys, glm::read_config4, kLlamaPrefixes,
                         glm::kRules4, {},         kLlamaIgnored};

}  // namespace clearformer
