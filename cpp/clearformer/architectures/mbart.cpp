// mBART (25 and 50 languages): BART with pre-norm blocks and a final norm in both stacks.
// Source: Liu et al. 2020, arXiv 2001.08210; Tang et al. 2020, arXiv 2008.00401; transformers'
// MBartForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace mbart {

constexpr KeyTable kKeys =
    bart_keys(R"("vocab_size":50265,"activation_function":"gelu","scale_embedding":false,
"pad_token_id":1,"bos_token_id":0,"eos_token_id":2,"decoder_start_token_id":null)");

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task, 2);
  normalize_before(model);
  embed_text(config, model, TextEmbeddingConfig::Positions::learned);
  normalize_embeddings(model);
  // The decoder of a model with a head starts with the last word of the text, whatever config.json says.
  if (model.head) model.decoder_start_token_id.reset();
  return model;
}

}  // namespace mbart

const Architecture kMBart{
    "mbart",           mbart::kKeys, mbart::read_config, kBartPrefixes, kBartRules,
    kFinalNormSchemes, {},           Task::seq2seq_lm};

}  // namespace clearformer
