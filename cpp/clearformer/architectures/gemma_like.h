// What Gemma 2 and 3 share: norms before and behind each sub-layer with weights stored minus one,
// scaled embeddings, tanh GELU, tied output.
#pragma once

#include "clearformer/architectures/llama_like.h"

namespace clearformer {

ModelConfig read_gemma_like(const ConfigReader& config, Task task, const RotaryKeys& rotary);
/// A softcap; none where the key is null.
float read_softcap(const ConfigReader& config, std::string_view key);
std::span<const NameRule> gemma_rules();

}  // namespace clearformer
