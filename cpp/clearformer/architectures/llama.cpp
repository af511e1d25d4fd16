// Llama (1, 2, 3, 3.2): pre-norm decoder with RMSNorm, rotary positions, grouped-query attention, SwiGLU.
// Source: Touvron et al. 2023, arXiv 2302.13971; transformers' LlamaForCausalLM.

#include <algorithm>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace llama {

// Variants without the option do not have the key in their tables.
Bias optional_bias(const ConfigReader& config, std::string_view key) {
  return config.knows(key) ? read_bias(config, key) : Bias::none;
}

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":2048,"rms_norm_eps":1e-6,"pad_token_id":null,"bos_token_id":1,
"eos_token_id":2,"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,
"mlp_bias":false,"head_dim":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

AttentionConfig read_attention(const ConfigReader& config, std::size_t d_model) {
  AttentionConfig attention;
  attention.d_model = d_model;
  attention.num_heads = config.size("num_attention_heads");
  read_groups(config, "num_key_value_heads", attention);
  const bool told = config.knows("head_dim") && config.is_set("head_dim");
  if (!told && d_model % attention.num_heads != 0) {
    config.refuse_value("num_attention_heads", "is ", attention.num_heads,
                        " and does not divide hidden_size ", d_model);
  }
  attention.d_head = told ? config.size("head_dim") : d_model / attention.num_heads;
  if (attention.d_head % 2 != 0) {
    config.refuse_value("head_dim", "must be even for rotary positions, it is ", attention.d_head);
  }
  config.product("num_attention_heads",
                 attention.num_heads + 2 * std::uint64_t{attention.num_key_value_heads},
                 attention.d_head);
  attention.bias = optional_bias(config, "attention_bias");
  return attention;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  return read_llama_like(config, task);
}

}  // namespace llama

ModelConfig read_llama_like(const ConfigReader& config, Task task, const RotaryKeys& rotary) {
  ModelConfig model = language_model(config, task);
  const std::size_t d_model = config.size("hidden_size");
  TowerConfig& tower = model.tower;
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  tower.max_positions = config.size("max_position_embeddings");
  BlockConfig& block = tower.stack.block;
  block.attention = llama::read_attention(config, d_model);
  if (config.knows("rms_norm_eps")) {
    block.norm = rms_norm(d_model, read_epsilon(config, "rms_norm_eps"));
  } else if (config.knows("layer_norm_eps")) {
    block.norm = layer_norm(d_model, read_epsilon(config, "layer_norm_eps"));
  }
  const char* activation = config.knows("hidden_act") ? "hidden_act" : "hidden_activation";
  block.feed_forward = {
      d_model, config.size("intermediate_size"),
      config.knows(activation) ? read_activation(config, activation, model) : Activation::silu,
      Gate::present, llama::optional_bias(config, "mlp_bias")};
  tower.rotary = read_rotary(config, block.attention.d_head, tower.max_positions, rotary);
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  read_padding(config, text);
  text.d_model = d_model;
  tower.text = text;
  model.output = {d_model, text.vocabulary};
  return model;
}

bool read_sliding_window(const ConfigReader& config, TowerConfig& tower) {
  if (!config.is_set("sliding_window")) return false;
  set_window(tower, config.size("sliding_window"));
  return true;
}

void read_windowed_layers(const ConfigReader& config, TowerConfig& tower,
                          Mixer (*usual)(const ConfigReader&, std::size_t layer)) {
  const std::vector<Mixer>& mixers = tower.stack.mixers =
      read_mixers(config, tower.stack.layers, usual);
  const bool local = std::find(mixers.begin(), mixers.end(), Mixer::local) != mixers.end();
  if (local && !read_sliding_window(config, tower)) {
    config.refuse_value("sliding_window", "is null, local layers need one: see layer_types");
  }
}

const Architecture kLlama{"llama",     llama::kKeys, llama::read_config, kLlamaPrefixes,
                          kLlamaRules, {},           kLlamaIgnored};

}  // namespace clearformer
