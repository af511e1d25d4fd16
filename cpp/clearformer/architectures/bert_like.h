// Shared by BERT and its variants: post-norm blocks with biases, learned positions, token types.
#pragma once

#include <algorithm>
#include <array>

#include "clearformer/architectures/values.h"

namespace clearformer {

/// The keys under which a variant of BERT stores its sizes in config.json.
struct BertKeys {
  std::string_view d_model = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view heads = "num_attention_heads";
  std::string_view d_hidden = "intermediate_size";
  std::string_view activation = "hidden_act";
};

/// Decoders, causal masks and relative positions, which transformers 4 supported, are rejected.
inline constexpr std::string_view kBertNeutral =
    R"("is_decoder":false,"add_cross_attention":false,"is_causal":false,
"position_embedding_type":"absolute")";

/// The names of the trunk's tensors that most variants kept: a variant's own names are a scheme, which comes first.
inline constexpr std::string_view kBertTrunk = R"(
embed.proj embeddings_project
embed.ln embeddings.LayerNorm
embed embeddings.word_embeddings
pos_embed embeddings.position_embeddings
token_type_embed embeddings.token_type_embeddings
blocks encoder.layer
attn.q_proj attention.self.query
attn.k_proj attention.self.key
attn.v_proj attention.self.value
attn.o_proj attention.output.dense
ln1 attention.output.LayerNorm
mlp.up_proj intermediate.dense
mlp.down_proj output.dense
ln2 output.LayerNorm
)";
inline constexpr KeyScheme kBertNames[] = {{"", kBertTrunk}};

/// The names of RoBERTa's heads.
inline constexpr char kRobertaHeads[] = R"(
classifier.dense /classifier.dense
classifier.out /classifier.out_proj
token_classifier.out /classifier
qa.out /qa_outputs
mlm.dense /lm_head.dense
mlm.norm /lm_head.layer_norm
mlm.bias /lm_head.bias
mlm.out /lm_head.decoder
)";

/// The rules of two texts, one after the other.
template <std::size_t M, std::size_t N>
constexpr std::array<char, M + N - 2> both(const char (&first)[M], const char (&second)[N]) {
  std::array<char, M + N - 2> rules{};
  std::copy_n(second, N - 1, std::copy_n(first, M - 1, rules.begin()));
  return rules;
}

/// Reads the trunk and special tokens; token types and heads are left to the caller.
ModelConfig read_bert_trunk(const ConfigReader& config, Task task, const BertKeys& keys);

/// The heads that BERT, RoBERTa and MPNet share but for the masked-LM head's activation.
HeadConfig bert_heads(const ConfigReader& config, Task task, const ModelConfig& model,
                      Activation masked_lm);

/// Positions count the tokens other than `padding`, starting after that id. Throws if none is left.
void count_positions(const ConfigReader& config, std::int32_t padding, TowerConfig& tower);

/// Reads "embedding_size", the features of the embedding's tables and norm; projects them to the model's if they
/// differ.
void read_embedding_size(const ConfigReader& config, TowerConfig& tower);

}  // namespace clearformer
