// MPNet: BERT with positions as RoBERTa, a bias for relative positions as T5, and no token types.
// Source: Song et al. 2020, arXiv 2004.09297; transformers' MPNetModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace mpnet {

// Before BERT's.
constexpr char kOwn[] = R"(
attn.q_proj attention.attn.q
attn.k_proj attention.attn.k
attn.v_proj attention.attn.v
attn.o_proj attention.attn.o
ln1 attention.LayerNorm
relative encoder.relative_attention_bias
)";
constexpr auto kNames = both(kOwn, kRobertaHeads);
constexpr KeyScheme kSchemes[] = {{"", {kNames.data(), kNames.size()}}};
constexpr std::string_view kPrefixes = "mpnet.";
constexpr std::string_view kIgnored = "*embeddings.position_ids";

constexpr KeyTable kKeys{.fields = R"("vocab_size":30527,"hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"intermediate_size":3072,"hidden_act":"gelu",
"max_position_embeddings":512,"layer_norm_eps":1e-12,"relative_attention_num_buckets":32,
"pad_token_id":1,"bos_token_id":0,"eos_token_id":2,"tie_word_embeddings":true)"};

// Fixed in transformers, whatever the config says.
constexpr std::int32_t kPadding = 1;
constexpr std::size_t kBuckets = 32;

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bert_trunk(config, task, {});
  count_positions(config, kPadding, model.tower);
  if (config.size("relative_attention_num_buckets") != kBuckets) {
    config.refuse(ErrorCode::unsupported, "relative_attention_num_buckets", "is not ", kBuckets);
  }
  model.tower.relative = RelativeBuckets{};
  model.head = bert_heads(config, task, model, Activation::gelu_erf);
  return model;
}

}  // namespace mpnet

const Architecture kMpnet{"mpnet",    mpnet::kKeys,    mpnet::read_config, mpnet::kPrefixes,
                          kBertTrunk, mpnet::kSchemes, mpnet::kIgnored,    Task::base};

}  // namespace clearformer
