// Phi-3 and 4: Llama whose projections are stored in one tensor each, with an optional window.
// Source: Abdin et al. 2024, arXiv 2404.14219; transformers' Phi3ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed", "embed_tokens"},
    {"blocks", "layers"},
    {"ln1", "input_layernorm"},
    {"attn", "self_attn"},
    {"q_proj", "qkv_proj", 0, 0},
    {"k_proj", "qkv_proj", 2, 0},
    {"v_proj", "qkv_proj", 1, 0},
    {"ln2", "post_attention_layernorm"},
    {"gate_proj", "gate_up_proj", 0, 2},
    {"up_proj", "gate_up_proj", 1, 2},
    {"ln_final", "norm"},
    {"unembed", "/lm_head"},
};

ModelConfig read_config(const ConfigReader& config, Task task) {
  LlamaDefaults defaults;
  defaults.max_positions = 4096;
  ModelConfig model = read_llama_like(config, task, defaults);
  TowerConfig& tower = model.tower;
  if (read_sliding_window(config, tower)) {
    tower.stack.spans.assign(tower.stack.layers, Span::local);
  }
  return model;
}

}  // namespace

const Architecture kPhi3{"phi3", read_config, llama_prefixes(), kRules, {}, llama_ignored()};

}  // namespace clearformer
