// EXAONE 4: Llama with RMSNorms only behind the sub-layers, and of each head's queries and keys; where some layers'
// attention is local, those that attend to everything have no positions.
// Source: LG AI Research 2025, arXiv 2507.11407; transformers' Exaone4ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace exaone4 {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":102400,"hidden_size":4096,"intermediate_size":16384,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"hidden_act":"silu",
"max_position_embeddings":2048,"rms_norm_eps":1e-5,"bos_token_id":0,"eos_token_id":2,
"pad_token_id":null,"tie_word_embeddings":false,"rope_parameters":null,"sliding_window":4096,
"sliding_window_pattern":4,"layer_types":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

Mixer usual_mixer(const ConfigReader& config, std::size_t layer) {
  if (!config.is_set("sliding_window")) {
    config.refuse_value("layer_types", "is missing, and there is no sliding_window");
  }
  return (layer + 1) % config.size("sliding_window_pattern") == 0 ? Mixer::full : Mixer::local;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  StackConfig& stack = model.tower.stack;
  stack.block.order = NormOrder::behind;
  stack.block.attention.head_norm = rms_norm(stack.block.attention.d_head, stack.block.norm.eps);
  read_windowed_layers(config, model.tower, usual_mixer);
  if (!config.is_set("sliding_window")) return model;
  for (const Mixer mixer : stack.mixers) stack.rotated.push_back(mixer == Mixer::local);
  return model;
}

}  // namespace exaone4

const Architecture kExaone4{"exaone4",      exaone4::kKeys, exaone4::read_config,
                            kLlamaPrefixes, kBehindRules,   {},
                            kLlamaIgnored};

}  // namespace clearformer
