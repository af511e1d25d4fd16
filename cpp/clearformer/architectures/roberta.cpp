// RoBERTa: BERT with positions that count the non-padding tokens, starting after the padding id. XLM-RoBERTa
// (multilingual-e5, bge-m3, bge-reranker), CamemBERT and data2vec's text model are the same under other names.
// Source: Liu et al. 2019, arXiv 1907.11692; transformers' RobertaModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace roberta {

constexpr std::string_view kPrefixes = "roberta.";
constexpr std::string_view kIgnored = "*embeddings.position_ids";

constexpr KeyTable kKeys{.fields = R"("vocab_size":50265,"hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"intermediate_size":3072,"hidden_act":"gelu",
"max_position_embeddings":512,"type_vocab_size":2,"layer_norm_eps":1e-12,"pad_token_id":1,
"bos_token_id":0,"eos_token_id":2,"tie_word_embeddings":true)",
                         .neutral = kBertNeutral};
constexpr KeyTable kXlmKeys{.fields = R"("vocab_size":30522,"hidden_size":768,
"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"hidden_act":"gelu",
"max_position_embeddings":512,"type_vocab_size":2,"layer_norm_eps":1e-12,"pad_token_id":1,
"bos_token_id":0,"eos_token_id":2,"tie_word_embeddings":true)",
                            .neutral = kBertNeutral};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bert_trunk(config, task, {});
  model.tower.text->token_types = config.size("type_vocab_size");
  const std::optional<std::int32_t> padding = config.token("pad_token_id");
  if (!padding) config.refuse_must("pad_token_id", "be a token id");
  count_positions(config, *padding, model.tower);
  model.head = bert_heads(config, task, model, Activation::gelu_erf);
  return model;
}

}  // namespace roberta

const Architecture kRoberta{"roberta",     roberta::kKeys, roberta::read_config, roberta::kPrefixes,
                            kRobertaHeads, kBertNames,     roberta::kIgnored,    Task::base};
const Architecture kXlmRoberta{"xlm-roberta",      roberta::kXlmKeys, roberta::read_config,
                               roberta::kPrefixes, kRobertaHeads,     kBertNames,
                               roberta::kIgnored,  Task::base};
const Architecture kCamembert{"camembert",        roberta::kXlmKeys, roberta::read_config,
                              roberta::kPrefixes, kRobertaHeads,     kBertNames,
                              roberta::kIgnored,  Task::base};

const Architecture kData2VecText{"data2vec-text",   roberta::kXlmKeys, roberta::read_config,
                                 "data2vec_text.",  kRobertaHeads,     kBertNames,
                                 roberta::kIgnored, Task::base};

}  // namespace clearformer
