// Marian (opus-mt): BART with sinusoidal positions and embeddings that are not normalized.
// Source: Junczys-Dowmunt et al. 2018, arXiv 1804.00344; transformers' MarianMTModel.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace {

constexpr NameRule kShared[] = {{"embed", "shared"}};
constexpr NameRule kOwn[] = {{"*.embed", "*.embed_tokens"}, {"embed", "decoder.embed_tokens"}};
constexpr KeyScheme kSchemes[] = {{"shared.weight", kShared}, {"", kOwn}};
constexpr std::string_view kPrefixes[] = {"model."};
constexpr std::string_view kIgnored[] = {"*.embed_tokens.weight", "*.embed_positions.weight",
                                         "lm_head.weight"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  model.own_target_embedding = !config.flag("share_encoder_decoder_embeddings", true);
  if (model.own_target_embedding) {
    model.output.vocabulary = config.size("decoder_vocab_size", model.output.vocabulary);
  }
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    TextEmbeddingConfig text;
    text.vocabulary = tower == &model.tower ? config.size("vocab_size") : model.output.vocabulary;
    text.d_model = tower->d_model();
    text.scale = embedding_scale(config, text.d_model);
    text.positions = TextEmbeddingConfig::Positions::sinusoidal;
    text.layout = SinusoidLayout::halves;
    tower->text = text;
  }
  return model;
}

}  // namespace

const Architecture kMarian{"marian", read_config, kPrefixes,       bart_rules(),
                           kSchemes, kIgnored,    Task::seq2seq_lm};

}  // namespace clearformer
