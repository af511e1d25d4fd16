// OLMo 2 and 3: Llama with RMSNorms only behind the sub-layers, and of queries and keys over all heads together; OLMo 3
// with local attention in three of four layers.
// Source: Walsh et al. 2024, arXiv 2501.00656; transformers' Olmo2ForCausalLM, Olmo3ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace olmo2 {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50304,"hidden_size":4096,"intermediate_size":11008,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":2048,"pad_token_id":1,"bos_token_id":null,"eos_token_id":50279,
"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,"rms_norm_eps":1e-5)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};
constexpr KeyTable kLocalKeys{
    .fields = R"("vocab_size":50304,"hidden_size":4096,"intermediate_size":11008,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":2048,"pad_token_id":1,"bos_token_id":null,"eos_token_id":50279,
"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,"rms_norm_eps":1e-5,
"sliding_window":4096,"layer_types":null)",
    .others = kKeys.others,
    .since_5_2 = kKeys.since_5_2};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  block.order = NormOrder::behind;
  block.attention.head_norm = block.norm;
  block.attention.norm_joins_heads = true;
  return model;
}

Mixer usual_mixer(const ConfigReader&, std::size_t layer) {
  return (layer + 1) % 4 == 0 ? Mixer::full : Mixer::local;
}

ModelConfig read_local(const ConfigReader& config, Task task) {
  ModelConfig model = read_config(config, task);
  read_windowed_layers(config, model.tower, usual_mixer);
  return model;
}

}  // namespace olmo2

const Architecture kOlmo2{"olmo2",      olmo2::kKeys, olmo2::read_config, kLlamaPrefixes,
                          kBehindRules, {},           kLlamaIgnored};
const Architecture kOlmo3{
    "olmo3", olmo2::kLocalKeys, olmo2::read_local, kLlamaPrefixes, kBehindRules, {}, kLlamaIgnored};

}  // namespace clearformer
