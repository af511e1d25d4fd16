// Shared by GPT-J and CodeGen, which differ in how their files store q, k and v.
#pragma once

#include "clearformer/architectures/gpt_like.h"

namespace clearformer {

/// Reads the whole model. Throws unsupported for a task other than causal-lm or base.
ModelConfig read_gptj_like(const ConfigReader& config, Task task);

inline constexpr std::string_view kGptjPrefixes = "transformer.";
/// Masks stored in old files.
inline constexpr std::string_view kGptjIgnored =
    "*.attn.bias *.attn.masked_bias *.attn.causal_mask";

}  // namespace clearformer
