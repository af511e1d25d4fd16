// Hunyuan (dense): Llama with RMSNorms of each head's queries and keys behind the rotation.
// Source: Tencent Hunyuan 2025, "Hunyuan-0.5B … 7B"; transformers' HunYuanDenseV1ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace hunyuan_v1_dense {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
q_norm query_layernorm
k_norm key_layernorm
ln2 post_attention_layernorm
ln_final norm
unembed /lm_head
)";
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":290943,"hidden_size":4096,"intermediate_size":11008,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":2048,"rms_norm_eps":1e-5,"pad_token_id":0,"bos_token_id":1,
"eos_token_id":2,"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,
"head_dim":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model =
      read_llama_like(config, task, {.alpha = true, .partial = RotaryKeys::Partial::ignored});
  AttentionConfig& attention = model.tower.stack.block.attention;
  attention.head_norm = rms_norm(attention.d_head, model.tower.stack.block.norm.eps);
  attention.norm_after_rotation = true;
  return model;
}

}  // namespace hunyuan_v1_dense

const Architecture kHunyuanV1Dense{
    "hunyuan_v1_dense", hunyuan_v1_dense::kKeys,  hunyuan_v1_dense::read_config,
    kLlamaPrefixes,     hunyuan_v1_dense::kRules, {},
    kLlamaIgnored};

}  // namespace clearformer
