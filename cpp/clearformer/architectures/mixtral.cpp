// Mixtral: Mistral with experts.
// Source: Jiang et al. 2024, arXiv 2401.04088; transformers' MixtralForCausalLM.

#include "clearformer/architectures/experts_config.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace mixtral {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":null,
"hidden_act":"silu","max_position_embeddings":131072,"rms_norm_eps":1e-5,"pad_token_id":null,
"bos_token_id":1,"eos_token_id":2,"tie_word_embeddings":false,"rope_parameters":null,
"sliding_window":null,"num_experts_per_tok":2,"num_local_experts":8)",
    .others = R"("rope_theta":1000000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("output_router_logits":false)",
    .other_names = R"("num_experts":"num_local_experts")"};

constexpr std::string_view kExperts = R"(
mlp block_sparse_moe
experts.*.gate_proj experts.*.w1
experts.*.up_proj experts.*.w3
experts.*.down_proj experts.*.w2
)";
constexpr KeyScheme kSchemes[] = {kExpertSchemes[0], {"", kExperts}};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  TowerConfig& tower = model.tower;
  if (read_sliding_window(config, tower)) {
    tower.stack.mixers.assign(tower.stack.layers, Mixer::local);
  }
  read_experts(config, "num_local_experts", model);
  return model;
}

}  // namespace mixtral

const Architecture kMixtral{"mixtral",   mixtral::kKeys,    mixtral::read_config, kLlamaPrefixes,
                            kLlamaRules, mixtral::kSchemes, kLlamaIgnored};

}  // namespace clearformer
