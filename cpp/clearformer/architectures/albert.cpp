// ALBERT: BERT with a factorised embedding and layers that share their weights.
// Source: Lan et al. 2019, arXiv 1909.11942; transformers' AlbertModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace albert {

// Before BERT's.
constexpr std::string_view kOwn = R"(
embed.proj encoder.embedding_hidden_mapping_in
blocks.* encoder.albert_layer_groups.*.albert_layers
attn.q_proj attention.query
attn.k_proj attention.key
attn.v_proj attention.value
attn.o_proj attention.dense
ln1 attention.LayerNorm
mlp.up_proj ffn
mlp.down_proj ffn_output
ln2 full_layer_layer_norm
pooler.dense pooler
classifier.dense pooler
classifier.out /classifier
token_classifier.out /classifier
qa.out /qa_outputs
mlm.dense /predictions.dense
mlm.norm /predictions.LayerNorm
mlm.bias /predictions.bias
mlm.out /predictions.decoder
)";
constexpr KeyScheme kSchemes[] = {{"", kOwn}};
constexpr std::string_view kPrefixes = "albert.";
constexpr std::string_view kIgnored = "*embeddings.position_ids";

constexpr KeyTable kKeys{.fields = R"("vocab_size":30000,"embedding_size":128,"hidden_size":4096,
"num_hidden_layers":12,"num_hidden_groups":1,"num_attention_heads":64,"intermediate_size":16384,
"inner_group_num":1,"hidden_act":"gelu_new","max_position_embeddings":512,"type_vocab_size":2,
"layer_norm_eps":1e-12,"pad_token_id":0,"bos_token_id":2,"eos_token_id":3,
"tie_word_embeddings":true)",
                         .neutral = R"("position_embedding_type":"absolute")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bert_trunk(config, task, {});
  model.tower.text->token_types = config.size("type_vocab_size");
  read_embedding_size(config, model.tower);
  model.tower.text->projected =
      TextEmbeddingConfig::Projected::after_norm;  // also to the same size
  StackConfig& stack = model.tower.stack;
  stack.shared = {read_layers(config, "num_hidden_groups"), read_layers(config, "inner_group_num")};
  stack.layers *= stack.shared->per_group;
  EncoderHeads heads;
  heads.pooler = heads.classifier = Activation::tanh;
  heads.masked_lm = stack.block.feed_forward.activation;
  heads.masked_lm_norm = model.tower.text->norm;
  model.head = encoder_head(config, task, model, heads);
  return model;
}

}  // namespace albert

const Architecture kAlbert{"albert",   albert::kKeys,    albert::read_config, albert::kPrefixes,
                           kBertTrunk, albert::kSchemes, albert::kIgnored,    Task::base};

}  // namespace clearformer
