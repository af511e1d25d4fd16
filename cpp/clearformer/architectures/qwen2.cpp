// Qwen2 and 2.5: Llama with biases on queries, keys and values, and optional sliding window attention in the upper
// layers.
// Source: Yang et al. 2024, arXiv 2407.10671; transformers' Qwen2ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/qwen_like.h"

namespace clearformer {

namespace qwen2 {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"hidden_act":"silu",
"max_position_embeddings":32768,"rms_norm_eps":1e-6,"tie_word_embeddings":false,
"rope_parameters":null,"use_sliding_window":false,"sliding_window":4096,"max_window_layers":28,
"layer_types":null,"pad_token_id":null,"bos_token_id":null,"eos_token_id":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

Mixer windowed_mixer(const ConfigReader& config, std::size_t layer) {
  return layer >= config.count("max_window_layers", 0) ? Mixer::local : Mixer::full;
}

Mixer full_mixer(const ConfigReader&, std::size_t) { return Mixer::full; }

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_qwen_like(config, task);
  AttentionBias& bias = model.tower.stack.block.attention.bias;
  bias.query = bias.key = bias.value = Bias::present;
  return model;
}

}  // namespace qwen2

ModelConfig read_qwen_like(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  TowerConfig& tower = model.tower;
  const bool windowed = config.flag("use_sliding_window") && read_sliding_window(config, tower);
  tower.stack.mixers =
      read_mixers(config, tower.stack.layers, windowed ? qwen2::windowed_mixer : qwen2::full_mixer);
  for (const Mixer mixer : tower.stack.mixers) {
    if (mixer == Mixer::full || windowed) continue;
    config.refuse_value("layer_types",
                        "names sliding_attention, but there is no window: see "
                        "use_sliding_window and sliding_window");
  }
  return model;
}

const Architecture kQwen2{"qwen2",     qwen2::kKeys, qwen2::read_config, kLlamaPrefixes,
                          kLlamaRules, {},           kLlamaIgnored};

}  // namespace clearformer
