// SmolLM3: Llama with every fourth layer without rotary positions, optionally local there.
// Source: Bakouch et al. 2025, "SmolLM3: smol, multilingual, long-context reasoner"; Yang et al. 2025, arXiv 2501.18795;
// transformers' SmolLM3ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace smollm3 {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":128256,"hidden_size":2048,"intermediate_size":11008,
"num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":4,"hidden_act":"silu",
"max_position_embeddings":32768,"rms_norm_eps":1e-6,"pad_token_id":128004,"bos_token_id":128000,
"eos_token_id":128001,"rope_parameters":null,"use_sliding_window":false,"sliding_window":null,
"no_rope_layers":null,"no_rope_layer_interval":4,"layer_types":null,"attention_bias":false,
"mlp_bias":false,"tie_word_embeddings":true)",
    .others = R"("rope_theta":2000000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

// Despite its name "no_rope_layers" is 1 for layers with rotary positions.
bool is_rotated(const ConfigReader& config, std::size_t layer) {
  if (!config.is_set("no_rope_layers")) {
    return (layer + 1) % config.size("no_rope_layer_interval") != 0;
  }
  const std::vector<double> flags = config.numbers("no_rope_layers");
  if (layer >= flags.size()) {
    config.refuse_value("no_rope_layers", "has ", flags.size(), " entries, too few for the layers");
  }
  return flags[layer] != 0.0;
}

Mixer usual_mixer(const ConfigReader& config, std::size_t layer) {
  const bool windowed = config.flag("use_sliding_window") && config.is_set("sliding_window");
  return windowed && !is_rotated(config, layer) ? Mixer::local : Mixer::full;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  StackConfig& stack = model.tower.stack;
  for (std::size_t layer = 0; layer < stack.layers; ++layer) {
    stack.rotated.push_back(is_rotated(config, layer));
  }
  read_windowed_layers(config, model.tower, usual_mixer);
  return model;
}

}  // namespace smollm3

const Architecture kSmolLm3{"smollm3",      smollm3::kKeys, smollm3::read_config,
                            kLlamaPrefixes, kLlamaRules,    {},
                            kLlamaIgnored};

}  // namespace clearformer
