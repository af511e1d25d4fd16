// Granite (3 and 4, dense): Llama with constants that multiply embeddings, scores, updates and logits; Granite MoE with
// experts, the softmax of whose largest logits weighs them; Granite MoE hybrid (Granite 4) with attention in all layers
// and no experts.
// Source: Granite Team, IBM 2024, "Granite 3.0 Language Models"; transformers' GraniteForCausalLM,
// GraniteMoeForCausalLM, GraniteMoeHybridForCausalLM.

#include "clearformer/architectures/experts_config.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace granite {

constexpr std::string_view kShared = R"("vocab_size":32000,"hidden_size":4096,
"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,
"num_key_value_heads":null,"hidden_act":"silu","max_position_embeddings":2048,"rms_norm_eps":1e-6,
"pad_token_id":null,"bos_token_id":1,"eos_token_id":2,"tie_word_embeddings":false,
"rope_parameters":null,"attention_bias":false,"embedding_multiplier":1,"logits_scaling":1,
"residual_multiplier":1,"attention_multiplier":1)";
constexpr KeyTable kKeys{
    .fields = R"("mlp_bias":false)",
    .shared_fields = kShared,
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};
constexpr KeyTable kMoeKeys{.fields = R"("num_local_experts":8,"num_experts_per_tok":2)",
                            .shared_fields = kShared,
                            .others = kKeys.others,
                            .since_5_2 = kKeys.since_5_2,
                            .neutral = R"("output_router_logits":false)"};
constexpr KeyTable kHybridKeys{
    .fields = R"("num_local_experts":8,"num_experts_per_tok":2,"shared_intermediate_size":1024,
"position_embedding_type":null,"layer_types":null)",
    .shared_fields = kShared,
    .others = kKeys.others,
    .since_5_2 = kKeys.since_5_2,
    .neutral = kMoeKeys.neutral,
    .other_names = R"("layers_block_type":"layer_types")"};

constexpr std::string_view kHybridRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
ln2 post_attention_layernorm
mlp shared_mlp
gate_proj input_linear 0/2
up_proj input_linear 1/2
down_proj output_linear
ln_final norm
unembed /lm_head
)";
constexpr std::string_view kExperts = R"(
mlp block_sparse_moe
gate router.layer
experts.*.gate_proj.weight input_linear.weight 0/2/e
experts.*.up_proj.weight input_linear.weight 1/2/e
experts.*.down_proj.weight output_linear.weight 0/1/e
)";
constexpr KeyScheme kMoeSchemes[] = {{"", kExperts}};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  block.attention.scale = config.number("attention_multiplier");
  block.residual_scale = static_cast<float>(config.number("residual_multiplier"));
  model.tower.text->scale = static_cast<float>(config.number("embedding_multiplier"));
  model.tower.text->scales_given = true;
  const double divisor = config.number("logits_scaling");
  if (divisor == 0.0) config.refuse_must("logits_scaling", "be other than 0");
  model.output.scale = static_cast<float>(1.0 / divisor);
  return model;
}

ModelConfig read_moe(const ConfigReader& config, Task task) {
  ModelConfig model = read_config(config, task);
  read_experts(config, "num_local_experts", model);
  model.tower.stack.block.feed_forward.router.by = RouterConfig::ChosenBy::logit;
  return model;
}

void read_layer_types(const ConfigReader& config, std::size_t layers) {
  const std::vector<std::string> types = config.texts("layer_types");
  for (const std::string& type : types) {
    if (type.find("mamba") == std::string::npos) continue;
    config.refuse(ErrorCode::unsupported, "layer_types", "holds \"", type,
                  "\": only models with attention in all layers are supported");
  }
  if (types.empty()) {
    config.refuse(ErrorCode::unsupported, "layer_types",
                  "is missing, which makes all layers mamba: these are not supported");
  }
  if (types.size() != layers) {
    config.refuse_value("layer_types", "names ", types.size(), " layers of ", layers);
  }
}

ModelConfig read_hybrid(const ConfigReader& config, Task task) {
  ModelConfig model = read_config(config, task);
  TowerConfig& tower = model.tower;
  read_layer_types(config, tower.stack.layers);
  if (config.is_set("num_local_experts") && config.number("num_local_experts") != 0.0) {
    config.refuse(ErrorCode::unsupported, "num_local_experts", "is ",
                  config.size("num_local_experts"),
                  ": experts beside a shared network are not supported");
  }
  tower.stack.block.feed_forward.d_hidden = config.size("shared_intermediate_size");
  if (config.text("position_embedding_type", "") != "rope") tower.rotary.reset();
  return model;
}

}  // namespace granite

const Architecture kGranite{"granite",      granite::kKeys, granite::read_config,
                            kLlamaPrefixes, kLlamaRules,    {},
                            kLlamaIgnored};
const Architecture kGraniteMoe{"granitemoe",   granite::kMoeKeys, granite::read_moe,
                               kLlamaPrefixes, kLlamaRules,       granite::kMoeSchemes,
                               kLlamaIgnored};

const Architecture kGraniteMoeHybrid{"granitemoehybrid",    granite::kHybridKeys,
                                     granite::read_hybrid,  kLlamaPrefixes,
                                     granite::kHybridRules, {},
                                     kLlamaIgnored};

}  // namespace clearformer
