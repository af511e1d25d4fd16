// Whisper: pre-norm encoder-decoder that transcribes a log-mel spectrogram.
// Source: Radford et al. 2022, arXiv 2212.04356; transformers' WhisperForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace whisper {

constexpr std::string_view kRules = R"(
embed decoder.embed_tokens
encoder.conv1 encoder.conv1
encoder.conv2 encoder.conv2
*.ln_final *.layer_norm
unembed /proj_out
)";
constexpr KeyScheme kSchemes[] = {{"", kRules}};

// The class has "scale_embedding", but its model never reads it.
constexpr KeyTable kKeys{.fields = R"("vocab_size":51865,"num_mel_bins":80,"encoder_layers":4,
"encoder_attention_heads":6,"decoder_layers":4,"decoder_attention_heads":6,"decoder_ffn_dim":1536,
"encoder_ffn_dim":1536,"decoder_start_token_id":50257,"activation_function":"gelu","d_model":384,
"max_source_positions":1500,"max_target_positions":448,"pad_token_id":50256,"bos_token_id":50256,
"eos_token_id":50256,"tie_word_embeddings":true)",
                         .since_5_2 = R"("is_causal":true)",
                         .other_names = R"("num_key_value_heads":"encoder_attention_heads",
"num_attention_heads":"encoder_attention_heads","hidden_size":"d_model",
"num_hidden_layers":"encoder_layers")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  normalize_before(model);
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    tower->stack.block.attention.bias.key = Bias::none;
  }
  model.tower.max_positions = config.size("max_source_positions");
  model.tower.audio = AudioEmbeddingConfig{config.size("num_mel_bins"), model.tower.max_positions,
                                           model.tower.d_model()};
  TowerConfig& decoder = *model.second;
  decoder.max_positions = config.size("max_target_positions");
  TextEmbeddingConfig text;
  text.vocabulary = model.output.vocabulary;
  read_padding(config, text);
  text.d_model = decoder.d_model();
  text.positions = TextEmbeddingConfig::Positions::learned;
  text.position_rows = decoder.max_positions;
  decoder.text = text;
  model.output.bias = Bias::none;
  model.own_target_embedding = false;
  model.prompts_begin_themselves = true;
  return model;
}

}  // namespace whisper

const Architecture kWhisper{
    "whisper", whisper::kKeys,  whisper::read_config, kBartPrefixes, kBartRules, whisper::kSchemes,
    {},        Task::seq2seq_lm};

}  // namespace clearformer
