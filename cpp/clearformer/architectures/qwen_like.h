// Shared by Qwen2 and Qwen3: Llama with optional sliding window attention in the upper layers.
#pragma once

#include "clearformer/architectures/llama_like.h"

namespace clearformer {

ModelConfig read_qwen_like(const ConfigReader& config, Task task);

}  // namespace clearformer
