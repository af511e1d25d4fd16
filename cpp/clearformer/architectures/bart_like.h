// Shared by BART, mBART, Marian, M2M100, Pegasus and Whisper: one config for an encoder and a decoder of the same width,
// one token embedding table, the same tensor names.
#pragma once

#include "clearformer/architectures/key_table.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

/// Reads special tokens, widths, both stacks (post-norm, LayerNorm, biases) and the output layer; the
/// embeddings are left to the caller. Throws unsupported for a task other than seq2seq-lm or base.
ModelConfig read_bart_like(const ConfigReader& config, Task task);

/// Makes both stacks pre-norm with a final norm, as in all but BART and Marian.
void normalize_before(ModelConfig& model);

/// Sets both embeddings: learned positions behind two unused rows, or sinusoids; no norm.
void embed_text(const ConfigReader& config, ModelConfig& model,
                TextEmbeddingConfig::Positions positions);

/// Normalizes the embeddings of both stacks, which embed_text has set.
void normalize_embeddings(ModelConfig& model);

/// sqrt(d_model) if "scale_embedding" is set, else 1.
float embedding_scale(const ConfigReader& config, std::size_t d_model);

/// transformers' alternative names for fields of both stacks.
inline constexpr std::string_view kBartNames =
    R"("num_attention_heads":"encoder_attention_heads","hidden_size":"d_model",
"num_hidden_layers":"encoder_layers")";

/// The keys of BART, mBART, Marian, M2M100 and Pegasus: the same sizes by default, and what differs.
constexpr KeyTable bart_keys(std::string_view fields, std::string_view others = "") {
  return {.fields = fields,
          .shared_fields = R"("max_position_embeddings":1024,"d_model":1024,"encoder_layers":12,
"encoder_ffn_dim":4096,"encoder_attention_heads":16,"decoder_layers":12,"decoder_ffn_dim":4096,
"decoder_attention_heads":16,"tie_word_embeddings":true)",
          .others = others,
          .since_5_2 = R"("is_causal":true)",
          .other_names = kBartNames};
}

/// The prefix of the trunk.
std::span<const std::string_view> bart_prefixes();
/// BART's tensor names, except that of the token embedding table.
std::span<const NameRule> bart_rules();
/// In addition, the names of the final norms.
std::span<const KeyScheme> final_norm_schemes();

}  // namespace clearformer
