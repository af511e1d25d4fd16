// Shared by GPT-2 and its successors: LayerNorm with bias, heads that divide the model's size, a feed-forward network
// without gate, by default four times as wide.
#pragma once

#include "clearformer/architectures/values.h"

namespace clearformer {

/// The names of the sizes in a config.json, by default GPT-2's. Empty: the value is not in the file.
struct GptKeys {
  std::string_view d_model = "n_embd";
  std::string_view layers = "n_layer";
  std::string_view heads = "n_head";
  std::string_view hidden = "n_inner";              // null or empty: 4 · d_model
  std::string_view epsilon = "layer_norm_epsilon";  // empty: 1e-5
  std::string_view positions = "n_positions";
  std::string_view activation = "activation_function";
  std::string_view fixed_activation = "";  // if there is no key
};

/// Reads a language model without biases in its attention, with token embeddings alone. Throws unsupported for a task
/// other than causal-lm or base.
ModelConfig read_gpt_like(const ConfigReader& config, Task task, const GptKeys& keys = {});

}  // namespace clearformer
