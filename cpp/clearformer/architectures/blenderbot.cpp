// Blenderbot: pre-norm encoder-decoder with learned positions. BlenderbotSmall is BART whose decoder normalizes the token
// embeddings before the positions are added.
// Source: Roller et al. 2020, arXiv 2004.13637; transformers' BlenderbotForConditionalGeneration and
// BlenderbotSmallForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace blenderbot {

constexpr std::string_view kShared = R"("activation_function":"gelu","scale_embedding":false,
"pad_token_id":0,"bos_token_id":1,"eos_token_id":2,"decoder_start_token_id":1,
"tie_word_embeddings":true)";
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":8008,"max_position_embeddings":128,"d_model":2560,
"encoder_layers":2,"encoder_ffn_dim":10240,"encoder_attention_heads":32,"decoder_layers":24,
"decoder_ffn_dim":10240,"decoder_attention_heads":32)",
    .shared_fields = kShared,
    .since_5_2 = R"("is_causal":true)",
    .other_names = kBartNames};
constexpr KeyTable kSmallKeys{
    .fields = R"("vocab_size":50265,"max_position_embeddings":512,"d_model":512,
"encoder_layers":8,"encoder_ffn_dim":2048,"encoder_attention_heads":16,"decoder_layers":8,
"decoder_ffn_dim":2048,"decoder_attention_heads":16)",
    .shared_fields = kShared,
    .since_5_2 = R"("is_causal":true)",
    .other_names = kBartNames};

ModelConfig read_stacks(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  embed_text(config, model, TextEmbeddingConfig::Positions::learned);
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    tower->text->position_offset = 0;
    tower->text->position_rows = tower->max_positions;
  }
  return model;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_stacks(config, task);
  normalize_before(model);
  return model;
}

ModelConfig read_small(const ConfigReader& config, Task task) {
  ModelConfig model = read_stacks(config, task);
  normalize_embeddings(model);
  model.second->text->norm_first = true;
  model.second->text->scale = 1.0f;  // as transformers
  return model;
}

}  // namespace blenderbot

const Architecture kBlenderbot{"blenderbot",
                               blenderbot::kKeys,
                               blenderbot::read_config,
                               kBartPrefixes,
                               kBartRules,
                               kFinalNormSchemes,
                               {},
                               Task::seq2seq_lm};
const Architecture kBlenderbotSmall{"blenderbot-small",
                                    blenderbot::kSmallKeys,
                                    blenderbot::read_small,
                                    kBartPrefixes,
                                    kBartRules,
                                    {},
                                    {},
                                    Task::seq2seq_lm};

}  // namespace clearformer
