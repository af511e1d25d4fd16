// BART: post-norm encoder-decoder with learned positions and normalized embeddings.
// Source: Lewis et al. 2019, arXiv 1910.13461; transformers' BartForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace bart {

constexpr KeyTable kKeys =
    bart_keys(R"("vocab_size":50265,"activation_function":"gelu","scale_embedding":false,
"pad_token_id":1,"bos_token_id":0,"eos_token_id":2,"decoder_start_token_id":2)");

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task, 3);
  embed_text(config, model, TextEmbeddingConfig::Positions::learned);
  normalize_embeddings(model);
  return model;
}

}  // namespace bart

const Architecture kBart{"bart", bart::kKeys, bart::read_config, kBartPrefixes, kBartRules,
                         {},     {},          Task::seq2seq_lm};

}  // namespace clearformer
