// Shared by Gemma 1, 2 and 3: norm weights stored minus one, scaled embeddings; 2 and 3 have norms before and after
// each sub-layer.
#pragma once

#include "clearformer/architectures/llama_like.h"

namespace clearformer {

/// Sets what all versions share: the offset of the norms' weights and the scale of the embeddings.
void set_gemma_scales(ModelConfig& model);
ModelConfig read_gemma_like(const ConfigReader& config, Task task, const RotaryKeys& rotary);
/// A softcap; none if the key is null.
float read_softcap(const ConfigReader& config, std::string_view key);
/// The tensor names of 2 and 3.
inline constexpr std::string_view kGemmaRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
ln1_post post_attention_layernorm
ln2 pre_feedforward_layernorm
ln2_post post_feedforward_layernorm
ln_final norm
unembed /lm_head
)";

}  // namespace clearformer
