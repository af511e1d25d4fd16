// Qwen3: Qwen2 with a norm over each query and key head in place of the biases.
// Source: Yang et al. 2025, arXiv 2505.09388; transformers' Qwen3ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/qwen_like.h"

namespace clearformer {

namespace {

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_qwen_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  block.attention.head_norm = rms_norm(block.attention.d_head, block.norm.eps);
  return model;
}

}  // namespace

const Architecture kQwen3{"qwen3",       read_config, llama_prefixes(),
                          llama_rules(), {},          llama_ignored()};

}  // namespace clearformer
