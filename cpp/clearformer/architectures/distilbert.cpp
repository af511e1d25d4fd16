// DistilBERT: BERT of half the depth, without token types and pooler.
// Source: Sanh et al. 2019, arXiv 1910.01108; transformers' DistilBertModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed.ln", "embeddings.LayerNorm"},
    {"embed", "embeddings.word_embeddings"},
    {"pos_embed", "embeddings.position_embeddings"},
    {"blocks", "transformer.layer"},
    {"attn.q_proj", "attention.q_lin"},
    {"attn.k_proj", "attention.k_lin"},
    {"attn.v_proj", "attention.v_lin"},
    {"attn.o_proj", "attention.out_lin"},
    {"ln1", "sa_layer_norm"},
    {"mlp.up_proj", "ffn.lin1"},
    {"mlp.down_proj", "ffn.lin2"},
    {"ln2", "output_layer_norm"},
    {"classifier.dense", "/pre_classifier"},
    {"classifier.out", "/classifier"},
    {"token_classifier.out", "/classifier"},
    {"qa.out", "/qa_outputs"},
    {"mlm.dense", "/vocab_transform"},
    {"mlm.norm", "/vocab_layer_norm"},
    {"mlm.out", "/vocab_projector"},
};
constexpr std::string_view kPrefixes[] = {"distilbert."};
constexpr std::string_view kIgnored[] = {"*embeddings.position_ids", "vocab_projector.weight"};

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

}  // namespace

const Architecture kDistilBert{"distilbert", read_config, kPrefixes, kRules,
                               {},           kIgnored,    Task::base};

}  // namespace clearformer
