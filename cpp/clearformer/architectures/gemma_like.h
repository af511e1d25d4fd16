// Shared by Gemma 2 and 3: norms before and after each sub-layer, with weights stored minus one,
// scaled embeddings, tanh GELU, tied output layer.
#pragma once

#include "clearformer/architectures/llama_like.h"

namespace clearformer {

ModelConfig read_gemma_like(const ConfigReader& config, Task task, const RotaryKeys& rotary);
/// A softcap; none if the key is null.
float read_softcap(const ConfigReader& config, std::string_view key);
std::span<const NameRule> gemma_rules();

}  // namespace clearformer
