// What BART, Marian and Whisper share: one config for an encoder and a decoder of the same width,
// one table of token embeddings, the same names of tensors.
#pragma once

#include "clearformer/architectures/values.h"

namespace clearformer {

/// Special tokens, widths, both stacks (post-norm, LayerNorm, biases) and the output layer; the
/// embeddings are the caller's. Throws unsupported for another task than seq2seq-lm or base.
ModelConfig read_bart_like(const ConfigReader& config, Task task);

/// sqrt(d_model) where "scale_embedding" says so, else 1.
float embedding_scale(const ConfigReader& config, std::size_t d_model);

/// The other names that transformers' classes have for fields of both stacks.
inline constexpr std::string_view kBartNames =
    R"("num_attention_heads":"encoder_attention_heads","hidden_size":"d_model",
"num_hidden_layers":"encoder_layers")";

/// BART's spelling of its tensors, but for the table of token embeddings.
std::span<const NameRule> bart_rules();

}  // namespace clearformer
