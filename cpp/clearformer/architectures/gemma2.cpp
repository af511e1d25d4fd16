// Gemma 2: softcapped scores and logits, local attention in every other layer.
// Source: Riviere et al. 2024, arXiv 2408.00118; transformers' Gemma2ForCausalLM.

#include <cmath>

#include "clearformer/architectures/gemma_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed", "embed_tokens"},
    {"blocks", "layers"},
    {"ln1", "input_layernorm"},
    {"attn", "self_attn"},
    {"ln1_post", "post_attention_layernorm"},
    {"ln2", "pre_feedforward_layernorm"},
    {"ln2_post", "post_feedforward_layernorm"},
    {"ln_final", "norm"},
    {"unembed", "/lm_head"},
};

Span usual_span(const ConfigReader&, std::size_t layer) {
  return layer % 2 == 0 ? Span::local : Span::full;
}

// Null means none.
float softcap(const ConfigReader& config, std::string_view key, double usual) {
  const bool absent = config.root().find(key) == nullptr;
  return static_cast<float>(config.number(key, absent ? usual : 0.0));
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  LlamaDefaults defaults;
  defaults.max_positions = 8192;
  ModelConfig model = read_gemma_like(config, task, defaults);
  TowerConfig& tower = model.tower;
  tower.stack.spans = read_spans(config, tower.stack.layers, usual_span);
  tower.window_before = config.size("sliding_window", 4096) - 1;
  tower.stack.block.attention.softcap = softcap(config, "attn_logit_softcapping", 50.0);
  model.output.softcap = softcap(config, "final_logit_softcapping", 30.0);
  return model;
}

}  // namespace

ModelConfig read_gemma_like(const ConfigReader& config, Task task, const LlamaDefaults& given) {
  require_flag(config, "use_bidirectional_attention", false);
  LlamaDefaults defaults = given;
  defaults.activation = "hidden_activation";
  defaults.usual_activation = "gelu_pytorch_tanh";
  defaults.d_head = 256;
  defaults.tied = true;
  ModelConfig model = read_llama_like(config, task, defaults);
  BlockConfig& block = model.tower.stack.block;
  block.order = NormOrder::both;
  block.norm.weight_offset = 1.0f;
  const double scalar = config.number("query_pre_attn_scalar", 256.0);
  if (!(scalar > 0.0)) config.refuse_value("query_pre_attn_scalar", "must be > 0");
  block.attention.scale = 1.0 / std::sqrt(scalar);
  model.tower.text->scale = std::sqrt(static_cast<float>(model.d_model()));
  return model;
}

std::span<const NameRule> gemma_rules() { return kRules; }

const Architecture kGemma2{"gemma2", read_config, llama_prefixes(), kRules, {}, llama_ignored()};

}  // namespace clearformer
