// ESM-1b and ESM-2, language models of proteins: pre-norm encoder with learned or rotary positions.
// Source: Lin et al. 2022, doi 10.1101/2022.07.20.500902; transformers' EsmModel.

#include <limits>

#include "clearformer/architectures/bert_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace esm {

// Before BERT's.
constexpr char kOwn[] = R"(
embed.ln embeddings.layer_norm
ln1 attention.LayerNorm
ln2 LayerNorm
ln_final encoder.emb_layer_norm_after
mlm.out.bias /lm_head.bias
)";
constexpr auto kNames = both(kOwn, kRobertaHeads);
constexpr KeyScheme kSchemes[] = {{"", {kNames.data(), kNames.size()}}};
constexpr std::string_view kPrefixes = "esm.";
// The published rotary models still hold the positions of ESM-1b. Contacts are not predicted.
constexpr std::string_view kIgnored =
    "*embeddings.position_ids *embeddings.position_embeddings.weight *contact_head.* "
    "*rotary_embeddings.inv_freq";

constexpr KeyTable kKeys{.fields = R"("vocab_size":null,"hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"intermediate_size":3072,"max_position_embeddings":1026,
"rope_theta":10000.0,"layer_norm_eps":1e-12,"position_embedding_type":"absolute",
"emb_layer_norm_before":null,"token_dropout":false,"mask_token_id":null,"pad_token_id":null,
"bos_token_id":null,"eos_token_id":2,"tie_word_embeddings":true)",
                         .others = R"("head_dim":null)",
                         .neutral = R"("is_decoder":false,"add_cross_attention":false,
"is_causal":false,"is_folding_model":false)"};

std::int32_t read_token(const ConfigReader& config, std::string_view key) {
  const std::optional<std::int32_t> token = config.token(key);
  if (!token) config.refuse_must(key, "be a token id");
  return *token;
}

void read_positions(const ConfigReader& config, TowerConfig& tower) {
  const std::string type = config.text("position_embedding_type");
  const std::int32_t padding = read_token(config, "pad_token_id");
  if (type == "absolute") {
    tower.text->positions = TextEmbeddingConfig::Positions::learned;
    tower.text->position_rows = tower.max_positions;
    count_positions(config, padding, tower);
  } else if (type == "rotary") {
    const std::size_t d_head = tower.stack.block.attention.d_head;
    if (config.size("head_dim", d_head) != d_head) {
      config.refuse_value("head_dim", "is not ", d_head);
    }
    if (d_head % 2 != 0) {
      config.refuse_value("num_attention_heads", "leaves heads of ", d_head,
                          " dimensions, rotary positions need an even number");
    }
    using Base = std::numeric_limits<double>;
    tower.rotary = RotaryConfig{.d_head = d_head,
                                .base = config.number_in("rope_theta", Base::min(), Base::max())};
    tower.stores_frequencies = true;
  } else {
    config.refuse(ErrorCode::unsupported, "position_embedding_type", "is \"", type, "\"");
  }
}

TowerConfig read_tower(const ConfigReader& config) {
  TowerConfig tower;
  const std::size_t d_model = config.size("hidden_size");
  tower.max_positions = config.size("max_position_embeddings");
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  BlockConfig& block = tower.stack.block;
  block.norm = layer_norm(d_model, read_epsilon(config, "layer_norm_eps"));
  block.attention = read_heads(config, "num_attention_heads", d_model);
  block.attention.bias = Bias::present;
  block.feed_forward = {d_model, config.size("intermediate_size"), Activation::gelu_erf};
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  read_padding(config, text);
  text.d_model = d_model;
  if (config.flag("emb_layer_norm_before")) text.norm = block.norm;
  if (config.flag("token_dropout")) text.dropped_id = read_token(config, "mask_token_id");
  text.clears_padding = text.given_whole = true;
  tower.text = text;
  read_positions(config, tower);
  return tower;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task == Task::question_answering) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_only;
  model.tied = config.flag("tie_word_embeddings");
  model.activation = "gelu";
  read_tokens(config, model);
  model.tower = read_tower(config);
  model.head = bert_heads(config, task, model, Activation::gelu_erf);
  return model;
}

}  // namespace esm

const Architecture kEsm{"esm",      esm::kKeys,    esm::read_config, esm::kPrefixes,
                        kBertTrunk, esm::kSchemes, esm::kIgnored,    Task::base};

}  // namespace clearformer
