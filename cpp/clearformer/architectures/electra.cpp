// ELECTRA: BERT with a factorised embedding, trained to tell replaced tokens (the discriminator) or to fill in masked
// ones (the generator).
// Source: Clark et al. 2020, arXiv 2003.10555; transformers' ElectraModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace electra {

constexpr std::string_view kRules = R"(
classifier.dense /classifier.dense
classifier.out /classifier.out_proj
token_classifier.out /classifier
qa.out /qa_outputs
detector.dense /discriminator_predictions.dense
detector.out /discriminator_predictions.dense_prediction
mlm.dense /generator_predictions.dense
mlm.norm /generator_predictions.LayerNorm
mlm.out /generator_lm_head
)";
constexpr std::string_view kPrefixes = "electra.";
constexpr std::string_view kIgnored = "*embeddings.position_ids";

constexpr KeyTable kKeys{.fields = R"("vocab_size":30522,"embedding_size":128,"hidden_size":256,
"num_hidden_layers":12,"num_attention_heads":4,"intermediate_size":1024,"hidden_act":"gelu",
"max_position_embeddings":512,"type_vocab_size":2,"layer_norm_eps":1e-12,"pad_token_id":0,
"bos_token_id":null,"eos_token_id":null,"tie_word_embeddings":true)",
                         .neutral = kBertNeutral};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bert_trunk(config, task, {});
  model.tower.text->token_types = config.size("type_vocab_size");
  read_embedding_size(config, model.tower);
  EncoderHeads heads;
  heads.classifier = heads.masked_lm = Activation::gelu_erf;
  heads.masked_lm_norm = model.tower.text->norm;
  heads.detector = model.tower.stack.block.feed_forward.activation;
  const HeadConfig head = encoder_head(config, task, model, heads);
  if (task != Task::base) model.head = head;
  return model;
}

}  // namespace electra

const Architecture kElectra{"electra",          electra::kKeys,  electra::read_config,
                            electra::kPrefixes, electra::kRules, kBertNames,
                            electra::kIgnored,  Task::base};

}  // namespace clearformer
