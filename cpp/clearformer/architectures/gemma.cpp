// Gemma (1): Llama with norm weights stored minus one, scaled embeddings and a tied output layer.
// Source: Mesnard et al. 2024, arXiv 2403.08295; transformers' GemmaForCausalLM.

#include "clearformer/architectures/gemma_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace gemma {

// "use_bidirectional_attention" has the same effects as in Gemma 2.
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":256000,"hidden_size":3072,"intermediate_size":24576,
"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":256,
"hidden_act":"gelu_pytorch_tanh","max_position_embeddings":8192,"rms_norm_eps":1e-6,
"pad_token_id":0,"eos_token_id":1,"bos_token_id":2,"tie_word_embeddings":true,
"rope_parameters":null,"attention_bias":false)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("use_bidirectional_attention":false)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  set_gemma_scales(model);
  return model;
}

}  // namespace gemma

const Architecture kGemma{"gemma",     gemma::kKeys, gemma::read_config, kLlamaPrefixes,
                          kLlamaRules, {},           kLlamaIgnored};

}  // namespace clearformer
