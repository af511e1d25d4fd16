// Mistral: Llama whose layers see a window of the past.
// Source: Jiang et al. 2023, arXiv 2310.06825; transformers' MistralForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace {

ModelConfig read_config(const ConfigReader& config, Task task) {
  LlamaDefaults defaults;
  defaults.max_positions = 131072;
  ModelConfig model = read_llama_like(config, task, defaults);
  TowerConfig& tower = model.tower;
  const bool windowed = read_sliding_window(config, tower);
  tower.stack.spans = read_spans(config, tower.stack.layers, windowed ? every_local : every_full);
  return model;
}

}  // namespace

const Architecture kMistral{"mistral",     read_config, llama_prefixes(),
                            llama_rules(), {},          llama_ignored()};

}  // namespace clearformer
