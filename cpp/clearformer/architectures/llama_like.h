// Shared by Llama and its variants: RMSNorm before each sub-layer, rotary positions, grouped-query
// attention, gated feed-forward.
#pragma once

#include "clearformer/architectures/rotary_config.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

/// Reads the whole model, with the options in the variant's table; without "rms_norm_eps" or "layer_norm_eps" the
/// caller sets the norm. Throws unsupported for a task other than causal-lm or base.
ModelConfig read_llama_like(const ConfigReader& config, Task task,
                            const RotaryKeys& rotary = {.partial = RotaryKeys::Partial::ignored});

/// Reads "sliding_window"; false if it is null.
bool read_sliding_window(const ConfigReader& config, TowerConfig& tower);

/// Reads "layer_types", by default usual(layer), and the "sliding_window" of local layers; throws if they have none.
void read_windowed_layers(const ConfigReader& config, TowerConfig& tower,
                          Mixer (*usual)(const ConfigReader&, std::size_t layer));

/// Llama's tensor names.
inline constexpr std::string_view kLlamaRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
ln2 post_attention_layernorm
ln_final norm
unembed /lm_head
)";
/// The same of models with norms only behind the sub-layers.
inline constexpr std::string_view kBehindRules = R"(
embed embed_tokens
blocks layers
attn self_attn
ln1_post post_attention_layernorm
ln2_post post_feedforward_layernorm
ln_final norm
unembed /lm_head
)";
inline constexpr std::string_view kLlamaPrefixes = "model.";
/// Rotary tables stored in old files.
inline constexpr std::string_view kLlamaIgnored = "*.rotary_emb.inv_freq";

}  // namespace clearformer
