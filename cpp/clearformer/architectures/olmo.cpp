// OLMo (1): Llama with LayerNorms without weights, and optionally clipped queries, keys and values.
// Source: Groeneveld et al. 2024, arXiv 2402.00838; transformers' OlmoForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace olmo {

constexpr double kNormEps = 1e-5;

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50304,"hidden_size":4096,"intermediate_size":11008,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":2048,"pad_token_id":1,"bos_token_id":null,"eos_token_id":50279,
"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,"clip_qkv":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  block.norm = plain_layer_norm(model.d_model(), kNormEps);
  if (config.is_set("clip_qkv")) {
    const double most = config.number("clip_qkv");
    if (!(most > 0.0)) config.refuse_must("clip_qkv", "be > 0");
    block.attention.clip = static_cast<float>(most);
  }
  return model;
}

}  // namespace olmo

const Architecture kOlmo{"olmo",      olmo::kKeys, olmo::read_config, kLlamaPrefixes,
                         kLlamaRules, {},          kLlamaIgnored};

}  // namespace clearformer
