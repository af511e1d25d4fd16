// Pegasus: pre-norm encoder-decoder with sinusoidal positions.
// Source: Zhang et al. 2019, arXiv 1912.08777; transformers' PegasusForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace pegasus {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50265,"max_position_embeddings":1024,"encoder_layers":12,
"encoder_ffn_dim":4096,"encoder_attention_heads":16,"decoder_layers":12,"decoder_ffn_dim":4096,
"decoder_attention_heads":16,"activation_function":"gelu","d_model":1024,"scale_embedding":false,
"pad_token_id":0,"eos_token_id":1,"decoder_start_token_id":0,"tie_word_embeddings":true)",
    .others = R"("bos_token_id":null)",
    .since_5_2 = R"("is_causal":true)",
    .other_names = kBartNames};

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

const Architecture kPegasus{"pegasus",
                            pegasus::kKeys,
                            pegasus::read_config,
                            bart_prefixes(),
                            bart_rules(),
                            final_norm_schemes(),
                            {},
                            Task::seq2seq_lm};

}  // namespace clearformer
