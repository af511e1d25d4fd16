// Llama (1, 2, 3, 3.2): pre-norm decoder with RMSNorm, rotary positions, grouped queries, SwiGLU.
// Source: Touvron et al. 2023, arXiv 2302.13971; transformers' LlamaForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed", "embed_tokens"},
    {"blocks", "layers"},
    {"ln1", "input_layernorm"},
    {"attn", "self_attn"},
    {"ln2", "post_attention_layernorm"},
    {"ln_final", "norm"},
    {"unembed", "/lm_head"},
};
constexpr std::string_view kPrefixes[] = {"model."};
constexpr std::string_view kIgnored[] = {"*.rotary_emb.inv_freq"};

AttentionConfig read_attention(const ConfigReader& config, std::size_t d_model,
                               std::size_t usual_d_head) {
  AttentionConfig attention;
  attention.d_model = d_model;
  attention.num_heads = config.size("num_attention_heads");
  attention.num_key_value_heads = config.size("num_key_value_heads", attention.num_heads);
  if (attention.num_heads % attention.num_key_value_heads != 0) {
    config.refuse_value("num_key_value_heads", "is ", attention.num_key_value_heads,
                        " and does not divide num_attention_heads ", attention.num_heads);
  }
  const bool told = config.root().find_set("head_dim") != nullptr || usual_d_head != 0;
  if (!told && d_model % attention.num_heads != 0) {
    config.refuse_value("num_attention_heads", "is ", attention.num_heads,
                        " and does not divide hidden_size ", d_model);
  }
  attention.d_head =
      config.size("head_dim", usual_d_head != 0 ? usual_d_head : d_model / attention.num_heads);
  if (attention.d_head % 2 != 0) {
    config.refuse_value("head_dim", "must be even for rotary positions, it is ", attention.d_head);
  }
  attention.bias = config.flag("attention_bias", false) ? Bias::present : Bias::none;
  return attention;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  return read_llama_like(config, task);
}

}  // namespace

ModelConfig read_llama_like(const ConfigReader& config, Task task, const LlamaDefaults& defaults) {
  ModelConfig model = language_model(config, task);
  model.tied = config.flag("tie_word_embeddings", defaults.tied);
  const std::size_t d_model = config.size("hidden_size");
  TowerConfig& tower = model.tower;
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  tower.max_positions = config.size("max_position_embeddings", defaults.max_positions);
  BlockConfig& block = tower.stack.block;
  block.attention = read_attention(config, d_model, defaults.d_head);
  block.norm = rms_norm(d_model, config.number("rms_norm_eps", 1e-6));
  block.feed_forward = {
      d_model, config.size("intermediate_size"),
      read_activation(config, defaults.activation, defaults.usual_activation, model), Gate::present,
      config.flag("mlp_bias", false) ? Bias::present : Bias::none};
  tower.rotary = read_rotary(config, block.attention.d_head, tower.max_positions, defaults.rotary);
  tower.max_positions = reachable_positions(*tower.rotary, tower.max_positions);
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  text.d_model = d_model;
  tower.text = text;
  model.output = {d_model, text.vocabulary};
  return model;
}

bool read_sliding_window(const ConfigReader& config, TowerConfig& tower) {
  if (config.root().find_set("sliding_window") == nullptr) return false;
  tower.window_before = config.size("sliding_window") - 1;
  return true;
}

Span every_full(const ConfigReader&, std::size_t) { return Span::full; }
Span every_local(const ConfigReader&, std::size_t) { return Span::local; }

std::span<const NameRule> llama_rules() { return kRules; }
std::span<const std::string_view> llama_prefixes() { return kPrefixes; }
std::span<const std::string_view> llama_ignored() { return kIgnored; }

const Architecture kLlama{"llama", read_config, kPrefixes, kRules, {}, kIgnored};

}  // namespace clearformer
