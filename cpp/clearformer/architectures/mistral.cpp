// Mistral: Llama with sliding window attention.
// Source: Jiang et al. 2023, arXiv 2310.06825; transformers' MistralForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace mistral {

// If transformers chooses the class itself, "layer_types" turns the model into another one (Ministral); a class named
// explicitly ignores the key.
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":null,
"hidden_act":"silu","max_position_embeddings":131072,"rms_norm_eps":1e-6,"pad_token_id":null,
"bos_token_id":1,"eos_token_id":2,"tie_word_embeddings":false,"rope_parameters":null,
"sliding_window":4096)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"layer_types":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  TowerConfig& tower = model.tower;
  const bool windowed = read_sliding_window(config, tower);
  if (windowed) tower.stack.mixers.assign(tower.stack.layers, Mixer::local);
  for (const std::string& type : config.texts("layer_types")) {
    if (type == (windowed ? "sliding_attention" : "full_attention")) continue;
    config.refuse(ErrorCode::unsupported, "layer_types", "names ", type, " beside ",
                  windowed ? "a" : "no", " sliding_window for all layers");
  }
  return model;
}

}  // namespace mistral

const Architecture kMistral{"mistral",      mistral::kKeys, mistral::read_config,
                            kLlamaPrefixes, kLlamaRules,    {},
                            kLlamaIgnored};

}  // namespace clearformer
