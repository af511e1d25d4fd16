// DeBERTa-v2 and -v3: BERT with disentangled attention (layers/disentangled_attention.h).
// Source: He et al. 2020, arXiv 2006.03654; He et al. 2021, arXiv 2111.09543; transformers' DebertaV2Model.

#include <algorithm>
#include <cmath>

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace deberta_v2 {

constexpr std::string_view kRules = R"(
embed.proj embeddings.embed_proj
embed.ln embeddings.LayerNorm
embed embeddings.word_embeddings
pos_embed embeddings.position_embeddings
token_type_embed embeddings.token_type_embeddings
relative.norm encoder.LayerNorm
relative encoder.rel_embeddings
blocks encoder.layer
attn.q_proj attention.self.query_proj
attn.k_proj attention.self.key_proj
attn.v_proj attention.self.value_proj
attn.pos_k_proj attention.self.pos_key_proj
attn.pos_q_proj attention.self.pos_query_proj
attn.o_proj attention.output.dense
ln1 attention.output.LayerNorm
mlp.up_proj intermediate.dense
mlp.down_proj output.dense
ln2 output.LayerNorm
classifier.dense /pooler.dense
classifier.out /classifier
token_classifier.out /classifier
qa.out /qa_outputs
)";
// The masked-LM head of the authors, always tied, and the one called "legacy", which is the default.
constexpr std::string_view kOwnHead = R"(
mlm.dense /lm_predictions.lm_head.dense
mlm.norm /lm_predictions.lm_head.LayerNorm
mlm.out /lm_predictions.lm_head
)";
constexpr std::string_view kLegacyHead = R"(
mlm.dense /cls.predictions.transform.dense
mlm.norm /cls.predictions.transform.LayerNorm
mlm.bias /cls.predictions.bias
mlm.out /cls.predictions.decoder
)";
bool is_legacy(const ConfigReader& config, const ModelConfig&) { return config.flag("legacy"); }
constexpr KeyScheme kSchemes[] = {{"cls.predictions.", kLegacyHead, is_legacy}, {"", kOwnHead}};
constexpr std::string_view kPrefixes = "deberta.";
constexpr std::string_view kIgnored =
    "*embeddings.position_ids *position_embeddings* mask_predictions.*";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":128100,"hidden_size":1536,"num_hidden_layers":24,
"num_attention_heads":24,"intermediate_size":6144,"hidden_act":"gelu",
"max_position_embeddings":512,"type_vocab_size":0,"layer_norm_eps":1e-7,"relative_attention":false,
"max_relative_positions":-1,"pad_token_id":0,"bos_token_id":null,"eos_token_id":null,
"position_biased_input":true,"pos_att_type":null,"pooler_hidden_act":"gelu","legacy":true,
"tie_word_embeddings":true)",
    .others = R"("position_buckets":-1,"share_att_key":false,"norm_rel_ebd":"none",
"conv_kernel_size":0,"embedding_size":null,"attention_head_size":null,"pooler_hidden_size":null)"};

// A count; 0 for those below 1, which mean that there is none.
std::size_t read_count(const ConfigReader& config, std::string_view key) {
  constexpr double kMost = 1u << 20;
  const double value = config.number_in(key, -kMost, kMost);
  if (value != std::floor(value)) config.refuse_must(key, "be an integer");
  return value < 1.0 ? 0 : static_cast<std::size_t>(value);
}

// Whether the names of a list, or of a text separated by '|', contain `name`.
bool names(const ConfigReader& config, std::string_view key, std::string_view name) {
  const Json* value = config.find_set(key);
  if (value == nullptr) return false;
  if (!value->is_string()) {
    const std::vector<std::string> all = config.texts(key);
    return std::find(all.begin(), all.end(), name) != all.end();
  }
  std::string text = "|";
  for (const char letter : value->string()) {
    if (letter != ' ')
      text += static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  }
  return (text + '|').find(concat("|", name, "|")) != std::string::npos;
}

// Sizes that transformers accepts but cannot run with, and its convolution.
void refuse_unsupported(const ConfigReader& config, Task task, const AttentionConfig& attention) {
  if (read_count(config, "conv_kernel_size") != 0) {
    config.refuse(ErrorCode::unsupported, "conv_kernel_size",
                  "adds a convolution, which is not supported");
  }
  if (config.size("attention_head_size", attention.d_head) != attention.d_head) {
    config.refuse_value("attention_head_size", "is not ", attention.d_head);
  }
  if (task == Task::sequence_classification &&
      config.size("pooler_hidden_size", attention.d_model) != attention.d_model) {
    config.refuse_value("pooler_hidden_size", "is not ", attention.d_model);
  }
}

void read_relative(const ConfigReader& config, TowerConfig& tower) {
  AttentionConfig& attention = tower.stack.block.attention;
  DisentangledConfig terms;
  terms.content_to_position = names(config, "pos_att_type", "c2p");
  terms.position_to_content = names(config, "pos_att_type", "p2c");
  const int count = 1 + int{terms.content_to_position} + int{terms.position_to_content};
  attention.scale = 1.0 / std::sqrt(static_cast<double>(attention.d_head) * count);
  if (!config.flag("relative_attention")) return;
  terms.shares_projections = config.flag("share_att_key");
  attention.disentangled = terms;
  RelativeTableConfig table;
  table.d_model = attention.d_model;
  table.buckets = read_count(config, "position_buckets");
  table.max_distance = read_count(config, "max_relative_positions");
  if (table.max_distance == 0) table.max_distance = config.size("max_position_embeddings");
  table.span = table.buckets == 0 ? table.max_distance : table.buckets;
  if (table.buckets == 1) config.refuse_must("position_buckets", "be more than 1");
  if (names(config, "norm_rel_ebd", "layer_norm")) table.norm = tower.stack.block.norm;
  tower.relative_table = table;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bert_trunk(config, task, {});
  TowerConfig& tower = model.tower;
  refuse_unsupported(config, task, tower.stack.block.attention);
  read_relative(config, tower);
  tower.isolates_padding = true;
  model.soft_labels = true;
  tower.stack.block.attention.empty_row = EmptyRow::uniform;
  TextEmbeddingConfig& text = *tower.text;
  text.clears_padding = true;
  text.token_types = config.count("type_vocab_size", 0);
  if (!config.flag("position_biased_input")) text.positions = TextEmbeddingConfig::Positions::none;
  text.d_words = config.size("embedding_size", text.d_model);
  if (text.d_words != text.d_model) text.projected = TextEmbeddingConfig::Projected::before_norm;
  if (!config.flag("legacy")) model.tied = true;
  EncoderHeads heads;
  ModelConfig pooler;  // not the model: its activation name differs
  heads.classifier = read_activation(config, "pooler_hidden_act", pooler);
  heads.masked_lm = tower.stack.block.feed_forward.activation;
  heads.masked_lm_norm = layer_norm(text.d_words, read_epsilon(config, "layer_norm_eps"));
  const HeadConfig head = encoder_head(config, task, model, heads);
  if (task != Task::base) model.head = head;
  return model;
}

}  // namespace deberta_v2

const Architecture kDebertaV2{"deberta-v2",          deberta_v2::kKeys,  deberta_v2::read_config,
                              deberta_v2::kPrefixes, deberta_v2::kRules, deberta_v2::kSchemes,
                              deberta_v2::kIgnored,  Task::base};

}  // namespace clearformer
