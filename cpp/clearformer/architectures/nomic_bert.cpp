// Nomic BERT (nomic-embed-text): BERT with rotary positions and gated feed-forward networks, almost without biases.
// Source: Nussbaum et al. 2024, arXiv 2402.01613; transformers' NomicBertModel.

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/rotary_config.h"

namespace clearformer {

namespace nomic_bert {

constexpr std::string_view kRules = R"(
classifier.dense pooler.dense
classifier.out /classifier
token_classifier.out /classifier
mlm.dense /cls.predictions.transform.dense
mlm.norm /cls.predictions.transform.layer_norm
mlm.bias /cls.predictions.bias
mlm.out /cls.predictions.decoder
embed.ln embeddings.LayerNorm
embed embeddings.word_embeddings
token_type_embed embeddings.token_type_embeddings
blocks layers
attn self_attn
ln1 post_attention_layernorm
ln2 post_mlp_layernorm
)";
// Before these, in the files of Nomic AI.
constexpr std::string_view kFirstNames = R"(
embed.ln emb_ln
blocks encoder.layers
attn.q_proj attn.Wqkv 0/3
attn.k_proj attn.Wqkv 1/3
attn.v_proj attn.Wqkv 2/3
attn.o_proj attn.out_proj
ln1 norm1
ln2 norm2
mlp.up_proj mlp.fc11
mlp.gate_proj mlp.fc12
mlp.down_proj mlp.fc2
)";
constexpr KeyScheme kSchemes[] = {{"attn.Wqkv", kFirstNames}, {"", ""}};
constexpr std::string_view kPrefixes = "nomic_bert.";

constexpr KeyTable kKeys{.fields = R"("vocab_size":30528,"hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"intermediate_size":3072,"hidden_act":"silu",
"max_position_embeddings":2048,"type_vocab_size":2,"layer_norm_eps":1e-12,"pad_token_id":0,
"bos_token_id":null,"eos_token_id":null,"rope_parameters":null,"head_dim":null)",
                         .others = R"("tie_word_embeddings":true,"rope_theta":1000,
"rope_scaling":null,"partial_rotary_factor":null,"original_max_position_embeddings":null)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task == Task::question_answering) refuse_task(config, task);
  ModelConfig model = read_bert_trunk(config, task, {});
  TowerConfig& tower = model.tower;
  BlockConfig& block = tower.stack.block;
  block.attention.d_head = config.size("head_dim", block.attention.d_head);
  config.product("num_attention_heads", 3 * std::uint64_t{block.attention.num_heads},
                 block.attention.d_head);
  block.attention.bias = block.feed_forward.bias = Bias::none;
  block.feed_forward.gate = Gate::present;
  tower.rotary = read_rotary(config, block.attention.d_head, tower.max_positions,
                             {.partial = RotaryKeys::Partial::ignored});
  tower.text->positions = TextEmbeddingConfig::Positions::none;
  tower.text->position_rows = 0;
  tower.text->token_types = config.size("type_vocab_size");
  EncoderHeads heads;
  heads.classifier = Activation::tanh;
  heads.masked_lm = block.feed_forward.activation;
  heads.masked_lm_norm = block.norm;
  model.head = encoder_head(config, task, model, heads);
  return model;
}

}  // namespace nomic_bert

const Architecture kNomicBert{"nomic_bert",
                              nomic_bert::kKeys,
                              nomic_bert::read_config,
                              nomic_bert::kPrefixes,
                              nomic_bert::kRules,
                              nomic_bert::kSchemes,
                              {},
                              Task::base};

}  // namespace clearformer
