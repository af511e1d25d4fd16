// Phi (1, 1.5, 2): attention and feed-forward side by side behind one LayerNorm, rotary positions on
// part of each head, biases everywhere.
// Source: Gunasekar et al. 2023, arXiv 2306.11644; transformers' PhiForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed", "embed_tokens"},       {"blocks", "layers"},    {"ln1", "input_layernorm"},
    {"attn", "self_attn"},           {"o_proj", "dense"},     {"q_norm", "q_layernorm"},
    {"k_norm", "k_layernorm"},       {"up_proj", "fc1"},      {"down_proj", "fc2"},
    {"ln_final", "final_layernorm"}, {"unembed", "/lm_head"},
};

ModelConfig read_config(const ConfigReader& config, Task task) {
  LlamaDefaults defaults;
  defaults.usual_activation = "gelu_new";
  defaults.rotary.usual_partial_factor = 0.5;
  ModelConfig model = read_llama_like(config, task, defaults);
  const double eps = config.number("layer_norm_eps", 1e-5);
  BlockConfig& block = model.tower.stack.block;
  block.order = NormOrder::parallel;
  block.norm = layer_norm(model.d_model(), eps);
  block.attention.bias = Bias::present;
  if (config.flag("qk_layernorm", false)) {
    block.attention.head_norm = layer_norm(block.attention.d_head, eps);
  }
  block.feed_forward.gate = Gate::none;
  block.feed_forward.bias = Bias::present;
  model.output.bias = Bias::present;
  return model;
}

}  // namespace

const Architecture kPhi{"phi", read_config, llama_prefixes(), kRules, {}, llama_ignored()};

}  // namespace clearformer
