// Shared by BERT and its variants: post-norm blocks with biases, learned positions, token types.
#pragma once

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

/// Reads the trunk and special tokens; token types and heads are left to the caller.
ModelConfig read_bert_trunk(const ConfigReader& config, Task task, const BertKeys& keys);

}  // namespace clearformer
