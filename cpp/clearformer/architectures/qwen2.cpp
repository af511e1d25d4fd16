// Qwen2 and 2.5: Llama with biases on queries, keys and values, and an optional window in the upper
// layers.
// Source: Yang et al. 2024, arXiv 2407.10671; transformers' Qwen2ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/qwen_like.h"

namespace clearformer {

namespace {

Span usual_span(const ConfigReader& config, std::size_t layer) {
  return layer >= config.count("max_window_layers", 28) ? Span::local : Span::full;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_qwen_like(config, task);
  AttentionBias& bias = model.tower.stack.block.attention.bias;
  bias.query = bias.key = bias.value = Bias::present;
  bias.output = Bias::none;
  return model;
}

}  // namespace

ModelConfig read_qwen_like(const ConfigReader& config, Task task) {
  LlamaDefaults defaults;
  defaults.max_positions = 32768;
  ModelConfig model = read_llama_like(config, task, defaults);
  TowerConfig& tower = model.tower;
  const bool windowed =
      config.flag("use_sliding_window", false) && read_sliding_window(config, tower);
  if (windowed) tower.stack.spans = read_spans(config, tower.stack.layers, usual_span);
  return model;
}

const Architecture kQwen2{"qwen2",       read_config, llama_prefixes(),
                          llama_rules(), {},          llama_ignored()};

}  // namespace clearformer
