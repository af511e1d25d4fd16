// DistilBERT: BERT with half the layers, without token types and pooler.
// Source: Sanh et al. 2019, arXiv 1910.01108; transformers' DistilBertModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace distilbert {

constexpr std::string_view kRules = R"(
embed.ln embeddings.LayerNorm
embed embeddings.word_embeddings
pos_embed embeddings.position_embeddings
blocks transformer.layer
attn.q_proj attention.q_lin
attn.k_proj attention.k_lin
attn.v_proj attention.v_lin
attn.o_proj attention.out_lin
ln1 sa_layer_norm
mlp.up_proj ffn.lin1
mlp.down_proj ffn.lin2
ln2 output_layer_norm
classifier.dense /pre_classifier
classifier.out /classifier
token_classifier.out /classifier
qa.out /qa_outputs
mlm.dense /vocab_transform
mlm.norm /vocab_layer_norm
mlm.out /vocab_projector
)";
constexpr std::string_view kPrefixes = "distilbert.";
constexpr std::string_view kIgnored = "*embeddings.position_ids";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":30522,"max_position_embeddings":512,"n_layers":6,"n_heads":12,
"dim":768,"hidden_dim":3072,"activation":"gelu","pad_token_id":0,"eos_token_id":null,
"bos_token_id":null,"tie_word_embeddings":true)",
    .neutral = kBertNeutral,
    .other_names =
        R"("hidden_size":"dim","num_attention_heads":"n_heads","num_hidden_layers":"n_layers")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model =
      read_bert_trunk(config, task, {"dim", "n_layers", "n_heads", "hidden_dim", "activation"});
  EncoderHeads heads;
  heads.classifier = Activation::relu;
  heads.masked_lm = model.tower.stack.block.feed_forward.activation;
  heads.masked_lm_norm = model.tower.stack.block.norm;
  const HeadConfig head = encoder_head(config, task, model, heads);
  if (task != Task::base) model.head = head;
  return model;
}

}  // namespace distilbert

const Architecture kDistilBert{"distilbert",          distilbert::kKeys,  distilbert::read_config,
                               distilbert::kPrefixes, distilbert::kRules, {},
                               distilbert::kIgnored,  Task::base};

}  // namespace clearformer
