// Marian (opus-mt): BART with sinusoidal positions and embeddings that are not normalized.
// Source: Junczys-Dowmunt et al. 2018, arXiv 1804.00344; transformers' MarianMTModel.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace marian {

constexpr std::string_view kIgnored = "*.embed_positions.weight";  // sinusoids

constexpr KeyTable kKeys =
    bart_keys(R"("vocab_size":58101,"decoder_vocab_size":null,"activation_function":"gelu",
"decoder_start_token_id":58100,"scale_embedding":false,"pad_token_id":58100,"eos_token_id":0,
"bos_token_id":null,"share_encoder_decoder_embeddings":true)");

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  const std::size_t target = config.size("decoder_vocab_size", model.output.vocabulary);
  if (!config.flag("share_encoder_decoder_embeddings")) {
    model.own_target_embedding = true;
    model.output.vocabulary = target;
  } else if (target != model.output.vocabulary) {
    config.refuse(ErrorCode::unsupported, "decoder_vocab_size", "is ", target,
                  ", the shared table has ", model.output.vocabulary, " rows");
  }
  embed_text(config, model, TextEmbeddingConfig::Positions::sinusoidal);
  model.second->text->scales_given = true;
  model.tower.text->vocabulary = config.size("vocab_size");
  return model;
}

}  // namespace marian

const Architecture kMarian{"marian",         marian::kKeys,   marian::read_config,
                           kBartPrefixes,    kBartRules,      {},
                           marian::kIgnored, Task::seq2seq_lm};

}  // namespace clearformer
