// Shared by BART, mBART, Marian, M2M100, Pegasus and Whisper: one config for an encoder and a decoder of the same width,
// one token embedding table, the same tensor names.
#pragma once

#include "clearformer/architectures/key_table.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

/// Reads special tokens, widths, both stacks (post-norm, LayerNorm, biases) and the output layer; the
/// embeddings are left to the caller. Throws unsupported for a task other than seq2seq-lm or base, or also
/// sequence-classification and question-answering where there is a usual number of `labels`.
ModelConfig read_bart_like(const ConfigReader& config, Task task, std::size_t labels = 0);

/// Makes both stacks pre-norm with a final norm, as in all but BART and Marian.
void normalize_before(ModelConfig& model);

/// Sets both embeddings: learned positions behind two unused rows, or sinusoids; no norm.
void embed_text(const ConfigReader& config, ModelConfig& model,
                TextEmbeddingConfig::Positions positions);

/// Normalizes the embeddings of both stacks, which embed_text has set.
void normalize_embeddings(ModelConfig& model);

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
inline constexpr std::string_view kBartPrefixes = "model.";
/// BART's tensor names, except that of the token embedding table.
inline constexpr std::string_view kBartRules = R"(
*.embed.ln *.layernorm_embedding
*.embed *.embed_tokens
embed shared
*.pos_embed *.embed_positions
encoder.*.ln2 encoder.layers.*.final_layer_norm
decoder.*.ln2 decoder.layers.*.encoder_attn_layer_norm
decoder.*.ln3 decoder.layers.*.final_layer_norm
encoder encoder.layers
decoder decoder.layers
ln1 self_attn_layer_norm
attn.o_proj self_attn.out_proj
attn self_attn
cross_attn.o_proj encoder_attn.out_proj
cross_attn encoder_attn
mlp.up_proj fc1
mlp.down_proj fc2
unembed.bias /final_logits_bias
classifier.out /classification_head.out_proj
classifier /classification_head
qa.out /qa_outputs
unembed /lm_head
)";
/// In addition, the names of the final norms.
inline constexpr KeyScheme kFinalNormSchemes[] = {{"", "*.ln_final *.layer_norm"}};

}  // namespace clearformer
