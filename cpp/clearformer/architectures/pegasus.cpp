// Pegasus: pre-norm encoder-decoder with sinusoidal positions.
// Source: Zhang et al. 2019, arXiv 1912.08777; transformers' PegasusForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace pegasus {

constexpr KeyTable kKeys =
    bart_keys(R"("vocab_size":50265,"activation_function":"gelu","scale_embedding":false,
"pad_token_id":0,"eos_token_id":1,"decoder_start_token_id":0)",
              R"("bos_token_id":null)");

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  normalize_before(model);
  embed_text(config, model, TextEmbeddingConfig::Positions::sinusoidal);
  model.second->text->scales_given = true;
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    tower->text->position_rows =
        tower->max_positions;  // transformers reads them, rounded as they are
  }
  return model;
}

}  // namespace pegasus

const Architecture kPegasus{
    "pegasus", pegasus::kKeys,  pegasus::read_config, kBartPrefixes, kBartRules, kFinalNormSchemes,
    {},        Task::seq2seq_lm};

}  // namespace clearformer
