// M2M100 and NLLB: pre-norm encoder-decoder with scaled embeddings and sinusoids whose positions count the tokens
// other than padding.
// Source: Fan et al. 2020, arXiv 2010.11125; NLLB Team 2022, arXiv 2207.04672; transformers'
// M2M100ForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace m2m_100 {

constexpr std::string_view kIgnored = "*.embed_positions.weights";  // sinusoids

constexpr KeyTable kKeys =
    bart_keys(R"("vocab_size":128112,"activation_function":"relu","scale_embedding":true,
"pad_token_id":1,"bos_token_id":0,"eos_token_id":2,"decoder_start_token_id":2)");

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  normalize_before(model);
  embed_text(config, model, TextEmbeddingConfig::Positions::sinusoidal);
  model.output.bias = Bias::none;
  if (model.pad_token_id.value_or(-1) < 0) config.refuse_must("pad_token_id", "be a token id");
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    TextEmbeddingConfig& text = *tower->text;
    text.layout = SinusoidLayout::whisper;
    text.uncounted_id = text.blank_row = model.pad_token_id;
    text.position_offset = static_cast<std::size_t>(*model.pad_token_id) + 1;
    text.unbounded = true;
  }
  return model;
}

}  // namespace m2m_100

const Architecture kM2m100{"m2m_100",  m2m_100::kKeys,    m2m_100::read_config, kBartPrefixes,
                           kBartRules, kFinalNormSchemes, m2m_100::kIgnored,    Task::seq2seq_lm};

}  // namespace clearformer
