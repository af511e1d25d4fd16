// Gemma 3, text model: Gemma 2 with per-head norms instead of softcaps, and local
// attention with rotary parameters of its own in five of six layers. A checkpoint with a vision tower stores
// the text model under text_config; its other tensors are reported as unexpected.
// Source: Kamath et al. 2025, arXiv 2503.19786; transformers' Gemma3ForCausalLM.

#include "clearformer/architectures/gemma_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

// The class has a field "attn_logit_softcapping", but its model never reads it.
const KeyTable kGemma3TextKeys{
    .fields = R"("vocab_size":262208,"hidden_size":2304,"intermediate_size":9216,
"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,
"hidden_activation":"gelu_pytorch_tanh","max_position_embeddings":131072,"rms_norm_eps":1e-6,
"pad_token_id":0,"eos_token_id":1,"bos_token_id":2,"tie_word_embeddings":true,
"rope_parameters":null,"attention_bias":false,"query_pre_attn_scalar":256,"sliding_window":4096,
"layer_types":null,"final_logit_softcapping":null,"use_bidirectional_attention":false)",
    .others = R"("rope_theta":1000000,"rope_local_base_freq":10000,"rope_scaling":null,
"partial_rotary_factor":null,"sliding_window_pattern":6)",
    .since_5_2 = R"("is_causal":true)"};

namespace gemma3 {

constexpr std::string_view kPrefixes = "model.language_model. language_model.model. model.";

// save_pretrained stores an untied output layer under the name it has beside the text model.
constexpr std::string_view kOwnOutput = "unembed /language_model.lm_head";
constexpr KeyScheme kSchemes[] = {{"language_model.lm_head", kOwnOutput}};

constexpr KeyTable kWholeKeys{
    .fields = R"("text_config":null,"tie_word_embeddings":true)",
    .others = R"("bos_token_id":null,"eos_token_id":null,"pad_token_id":null)"};
// The image-and-text class builds its masks itself and ignores that key; it does not softcap logits either.
constexpr KeyTable kInnerKeys{.fields = "", .neutral = R"("use_bidirectional_attention":false)"};

Mixer usual_mixer(const ConfigReader& config, std::size_t layer) {
  return (layer + 1) % config.size("sliding_window_pattern") == 0 ? Mixer::full : Mixer::local;
}

// In a bidirectional text model a window of n reaches n / 2 positions to each side.
void read_attention(const ConfigReader& config, TowerConfig& tower) {
  const std::size_t window = config.size("sliding_window");
  if (!config.flag("use_bidirectional_attention")) return set_window(tower, window);
  const bool causal = tower.attends == TowerConfig::Attends::to_the_past;
  tower.attends = TowerConfig::Attends::to_all;
  set_window(tower, window / 2 + (causal ? 0 : 1));
}

ModelConfig read_text(const ConfigReader& config, Task task) {
  constexpr RotaryKeys::Partial kIgnored = RotaryKeys::Partial::ignored;
  ModelConfig model =
      read_gemma_like(config, task, {.layer_type = "full_attention", .partial = kIgnored});
  model.model_type = "gemma3_text";
  TowerConfig& tower = model.tower;
  AttentionConfig& attention = tower.stack.block.attention;
  attention.head_norm = rms_norm(attention.d_head, tower.stack.block.norm.eps);
  attention.head_norm->weight_offset = 1.0f;
  tower.stack.mixers = read_mixers(config, tower.stack.layers, usual_mixer);
  read_attention(config, tower);
  tower.local_rotary = read_rotary(config, attention.d_head, tower.max_positions,
                                   {.layer_type = "sliding_attention",
                                    .theta = "rope_local_base_freq",
                                    .scaled = false,
                                    .partial = kIgnored});
  return model;
}

ModelConfig read_whole(const ConfigReader& config, Task task) {
  const ConfigReader text =
      config.object("text_config").value_or(config.with_members(Json::Object()));
  declared(text, kInnerKeys);
  ModelConfig model = read_text(declared(text, kGemma3TextKeys), task);
  model.model_type = "gemma3";
  model.tied = config.flag("tie_word_embeddings");
  model.output.softcap = 0.0f;
  if (config.is_set("eos_token_id")) model.eos_token_ids = config.tokens("eos_token_id");
  if (config.is_set("bos_token_id")) model.bos_token_id = config.token("bos_token_id");
  if (config.is_set("pad_token_id")) model.pad_token_id = config.token("pad_token_id");
  return model;
}

}  // namespace gemma3

const Architecture kGemma3Text{"gemma3_text",     kGemma3TextKeys, gemma3::read_text,
                               gemma3::kPrefixes, kGemmaRules,     {},
                               kLlamaIgnored};
const Architecture kGemma3{"gemma3",    gemma3::kWholeKeys, gemma3::read_whole, gemma3::kPrefixes,
                           kGemmaRules, gemma3::kSchemes,   kLlamaIgnored};

}  // namespace clearformer
