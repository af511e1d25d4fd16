// Phi-3 and 4: Llama with stacked projections (q, k, v in one tensor; gate and up in another) and an optional window.
// Source: Abdin et al. 2024, arXiv 2404.14219; transformers' Phi3ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace phi3 {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
q_proj qkv_proj 0/0
k_proj qkv_proj 2/0
v_proj qkv_proj 1/0
ln2 post_attention_layernorm
gate_proj gate_up_proj 0/2
up_proj gate_up_proj 1/2
ln_final norm
unembed /lm_head
)";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":32064,"hidden_size":3072,"intermediate_size":8192,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":4096,"original_max_position_embeddings":4096,"rms_norm_eps":1e-5,
"tie_word_embeddings":false,"rope_parameters":null,"bos_token_id":1,"eos_token_id":32000,
"pad_token_id":32000,"sliding_window":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task, {.names = RotaryKeys::Names::phi3});
  TowerConfig& tower = model.tower;
  // As Phi3ForCausalLM's prepare_inputs_for_generation, which is the only one to do so.
  const RotaryScaling& scaling = tower.rotary->scaling;
  if (depends_on_length(scaling)) tower.renews_keys_beyond = scaling.original_max_positions;
  if (read_sliding_window(config, tower)) {
    tower.stack.mixers.assign(tower.stack.layers, Mixer::local);
  }
  return model;
}

}  // namespace phi3

const Architecture kPhi3{"phi3",       phi3::kKeys, phi3::read_config, kLlamaPrefixes,
                         phi3::kRules, {},          kLlamaIgnored};

}  // namespace clearformer
