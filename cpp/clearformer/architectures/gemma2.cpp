// Gemma 2: softcapped scores and logits, local attention in every other layer; VaultGemma, the same with norms only
// before the sub-layers.
// Source: Riviere et al. 2024, arXiv 2408.00118; VaultGemma Team 2025, arXiv 2510.15001; transformers'
// Gemma2ForCausalLM, VaultGemmaForCausalLM.

#include <cmath>

#include "clearformer/architectures/gemma_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace gemma2 {

// The effect of "use_bidirectional_attention" depends on transformers' attention implementation: eager attention
// ignores it, fused attention obeys it if nothing is padded.
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":256000,"hidden_size":2304,"intermediate_size":9216,
"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,
"hidden_activation":"gelu_pytorch_tanh","max_position_embeddings":8192,"rms_norm_eps":1e-6,
"pad_token_id":0,"eos_token_id":1,"bos_token_id":2,"tie_word_embeddings":true,
"rope_parameters":null,"attention_bias":false,"query_pre_attn_scalar":256,"sliding_window":4096,
"layer_types":null,"final_logit_softcapping":30,"attn_logit_softcapping":50)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("use_bidirectional_attention":false)"};

constexpr std::string_view kVaultRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
ln2 pre_feedforward_layernorm
ln_final norm
unembed /lm_head
)";
constexpr KeyTable kVaultKeys{
    .fields = kKeys.fields, .others = kKeys.others, .since_5_2 = kKeys.since_5_2};

Mixer usual_mixer(const ConfigReader&, std::size_t layer) {
  return layer % 2 == 0 ? Mixer::local : Mixer::full;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gemma_like(config, task, {.partial = RotaryKeys::Partial::ignored});
  TowerConfig& tower = model.tower;
  tower.stack.mixers = read_mixers(config, tower.stack.layers, usual_mixer);
  set_window(tower, config.size("sliding_window"));
  tower.stack.block.attention.softcap = read_softcap(config, "attn_logit_softcapping");
  return model;
}

ModelConfig read_vault(const ConfigReader& config, Task task) {
  ModelConfig model = read_config(config, task);
  model.tower.stack.block.order = NormOrder::pre;
  return model;
}

}  // namespace gemma2

void set_gemma_scales(ModelConfig& model) {
  model.tower.stack.block.norm.weight_offset = 1.0f;
  model.tower.text->scale = std::sqrt(static_cast<float>(model.d_model()));
}

ModelConfig read_gemma_like(const ConfigReader& config, Task task, const RotaryKeys& rotary) {
  ModelConfig model = read_llama_like(config, task, rotary);
  BlockConfig& block = model.tower.stack.block;
  set_gemma_scales(model);
  block.order = NormOrder::both;
  const double scalar = config.number("query_pre_attn_scalar");
  if (!(scalar > 0.0)) config.refuse_must("query_pre_attn_scalar", "be > 0");
  block.attention.scale = 1.0 / std::sqrt(scalar);
  model.output.softcap = read_softcap(config, "final_logit_softcapping");
  return model;
}

float read_softcap(const ConfigReader& config, std::string_view key) {
  return static_cast<float>(config.number(key, 0.0));
}

const Architecture kGemma2{
    "gemma2", gemma2::kKeys, gemma2::read_config, kLlamaPrefixes, kGemmaRules, {}, kLlamaIgnored};
const Architecture kVaultGemma{"vaultgemma",   gemma2::kVaultKeys,  gemma2::read_vault,
                               kLlamaPrefixes, gemma2::kVaultRules, {},
                               kLlamaIgnored};

}  // namespace clearformer
