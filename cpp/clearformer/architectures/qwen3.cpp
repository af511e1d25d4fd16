// Qwen3: Qwen2 with per-head norms of queries and keys instead of the biases.
// Source: Yang et al. 2025, arXiv 2505.09388; transformers' Qwen3ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/qwen_like.h"

namespace clearformer {

namespace qwen3 {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"head_dim":128,
"hidden_act":"silu","max_position_embeddings":32768,"rms_norm_eps":1e-6,
"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,
"use_sliding_window":false,"sliding_window":4096,"max_window_layers":28,"layer_types":null,
"pad_token_id":null,"bos_token_id":null,"eos_token_id":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_qwen_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  block.attention.head_norm = rms_norm(block.attention.d_head, block.norm.eps);
  return model;
}

}  // namespace qwen3

const Architecture kQwen3{"qwen3",     qwen3::kKeys, qwen3::read_config, kLlamaPrefixes,
                          kLlamaRules, {},           kLlamaIgnored};

}  // namespace clearformer
