// Whisper: pre-norm encoder-decoder from a log-mel spectrogram to text.
// Source: Radford et al. 2022, arXiv 2212.04356; transformers' WhisperForConditionalGeneration.

#include "clearformer/architectures/bart_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed", "decoder.embed_tokens"},  {"encoder.conv1", "encoder.conv1"},
    {"encoder.conv2", "encoder.conv2"}, {"*.ln_final", "*.layer_norm"},
    {"unembed", "/proj_out"},
};
constexpr KeyScheme kSchemes[] = {{"", kRules}};
constexpr std::string_view kPrefixes[] = {"model."};
constexpr std::string_view kIgnored[] = {"proj_out.weight"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_bart_like(config, task);
  for (TowerConfig* tower : {&model.tower, &*model.second}) {
    tower->stack.block.order = NormOrder::pre;
    tower->stack.final_norm = FinalNorm::present;
    tower->stack.block.attention.bias.key = Bias::none;
  }
  model.tower.max_positions = config.size("max_source_positions", 1500);
  model.tower.audio = AudioEmbeddingConfig{config.size("num_mel_bins", 80),
                                           model.tower.max_positions, model.tower.d_model()};
  TowerConfig& decoder = *model.second;
  decoder.max_positions = config.size("max_target_positions", 448);
  TextEmbeddingConfig text;
  text.vocabulary = model.output.vocabulary;
  text.d_model = decoder.d_model();
  text.scale = embedding_scale(config, text.d_model);
  text.positions = TextEmbeddingConfig::Positions::learned;
  text.position_rows = decoder.max_positions;
  decoder.text = text;
  model.output.bias = Bias::none;
  model.prompts_begin_themselves = true;
  return model;
}

}  // namespace

const Architecture kWhisper{"whisper", read_config, kPrefixes,       bart_rules(),
                            kSchemes,  kIgnored,    Task::seq2seq_lm};

}  // namespace clearformer
