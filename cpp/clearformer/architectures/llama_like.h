// What Llama and its children share: RMSNorm before each sub-layer, rotary positions, grouped
// queries, gated feed-forward, no biases.
#pragma once

#include "clearformer/architectures/rotary_config.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

/// Where a child of Llama differs in what config.json leaves unsaid.
struct LlamaDefaults {
  std::string_view activation = "hidden_act";
  std::string_view usual_activation = "silu";
  std::size_t max_positions = 2048;
  std::size_t d_head = 0;  // 0: d_model / heads
  bool tied = false;
  RotaryKeys rotary = {};
};

/// The whole model, with Llama's own options.
ModelConfig read_llama_like(const ConfigReader& config, Task task,
                            const LlamaDefaults& defaults = {});

/// "sliding_window" as a window over the past; false where it is absent or null.
bool read_sliding_window(const ConfigReader& config, TowerConfig& tower);

/// The layers' types where the config does not name them: all full, or all local.
Span every_full(const ConfigReader& config, std::size_t layer);
Span every_local(const ConfigReader& config, std::size_t layer);

/// Llama's spelling of its tensors.
std::span<const NameRule> llama_rules();
std::span<const std::string_view> llama_prefixes();
/// lm_head.weight of tied models, rotary tables of old files.
std::span<const std::string_view> llama_ignored();

}  // namespace clearformer
