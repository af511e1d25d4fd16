// Qwen3 MoE: Qwen3 with experts in some layers, and one window for all.
// Source: Yang et al. 2025, arXiv 2505.09388; transformers' Qwen3MoeForCausalLM.

#include "clearformer/architectures/experts_config.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace qwen3_moe {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":151936,"hidden_size":2048,"intermediate_size":6144,
"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":4,"hidden_act":"silu",
"max_position_embeddings":32768,"rms_norm_eps":1e-6,"tie_word_embeddings":false,
"rope_parameters":null,"attention_bias":false,"use_sliding_window":false,"sliding_window":4096,
"decoder_sparse_step":1,"moe_intermediate_size":768,"num_experts_per_tok":8,"num_experts":128,
"norm_topk_prob":false,"mlp_only_layers":null,"pad_token_id":null,"bos_token_id":null,
"eos_token_id":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("output_router_logits":false)",
    .other_names = R"("num_local_experts":"num_experts")"};

// Which layers have one network, of the width "intermediate_size".
std::vector<std::uint8_t> read_dense(const ConfigReader& config, std::size_t layers) {
  const std::size_t step = config.size("decoder_sparse_step");
  std::vector<std::uint8_t> dense(layers, 0);
  for (std::size_t i = 0; i < layers; ++i) dense[i] = (i + 1) % step != 0 ? 1 : 0;
  if (!config.is_set("mlp_only_layers")) return dense;
  for (const double layer : config.numbers("mlp_only_layers")) {
    for (std::size_t i = 0; i < layers; ++i) {
      if (layer == static_cast<double>(i)) dense[i] = 1;
    }
  }
  return dense;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  StackConfig& stack = model.tower.stack;
  BlockConfig& block = stack.block;
  block.attention.head_norm = rms_norm(block.attention.d_head, block.norm.eps);
  if (config.flag("use_sliding_window") && read_sliding_window(config, model.tower)) {
    stack.mixers.assign(stack.layers, Mixer::local);
  }
  if (config.count("num_experts", 0) == 0) return model;
  read_experts(config, "num_experts", model);
  block.feed_forward.router.normalized = config.flag("norm_topk_prob");
  stack.dense = read_dense(config, stack.layers);
  stack.dense_hidden = block.feed_forward.d_hidden;
  block.feed_forward.d_hidden = config.size("moe_intermediate_size");
  return model;
}

}  // namespace qwen3_moe

const Architecture kQwen3Moe{"qwen3_moe", qwen3_moe::kKeys, qwen3_moe::read_config, kLlamaPrefixes,
                             kLlamaRules, kExpertSchemes,   kLlamaIgnored};

}  // namespace clearformer
