// OLMoE: Llama with norms of queries and keys over all heads together, and experts.
// Source: Muennighoff et al. 2024, arXiv 2409.02060; transformers' OlmoeForCausalLM.

#include "clearformer/architectures/experts_config.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace olmoe {

// Queries and keys would be clipped behind their norms.
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50304,"hidden_size":2048,"intermediate_size":2048,
"num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":4096,"rms_norm_eps":1e-5,"pad_token_id":1,"bos_token_id":null,
"eos_token_id":50279,"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,
"num_experts_per_tok":8,"num_experts":64,"norm_topk_prob":false)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("output_router_logits":false,"clip_qkv":null)",
    .other_names = R"("num_local_experts":"num_experts")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  AttentionConfig& attention = block.attention;
  attention.head_norm = block.norm;
  attention.norm_joins_heads = true;
  if (attention.num_heads * attention.d_head != attention.d_model) {
    config.refuse_value("head_dim", "is ", attention.d_head, ", not that of hidden_size");
  }
  read_experts(config, "num_experts", model);
  block.feed_forward.router.normalized = config.flag("norm_topk_prob");
  return model;
}

}  // namespace olmoe

const Architecture kOlmoe{"olmoe",     olmoe::kKeys,   olmoe::read_config, kLlamaPrefixes,
                          kLlamaRules, kExpertSchemes, kLlamaIgnored};

}  // namespace clearformer
