// What Llama and its children share: RMSNorm before each sub-layer, rotary positions, grouped
// queries, gated feed-forward.
#pragma once

#include "clearformer/architectures/rotary_config.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

/// The whole model, with the options that the child's table knows. Throws unsupported for another
/// task than causal-lm or base.
ModelConfig read_llama_like(const ConfigReader& config, Task task,
                            const RotaryKeys& rotary = {.partial = RotaryKeys::Partial::ignored});

/// "sliding_window"; false where it is null.
bool read_sliding_window(const ConfigReader& config, TowerConfig& tower);

/// Llama's spelling of its tensors.
std::span<const NameRule> llama_rules();
std::span<const std::string_view> llama_prefixes();
/// Rotary tables of old files.
std::span<const std::string_view> llama_ignored();

}  // namespace clearformer
