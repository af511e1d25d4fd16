// Audio spectrogram transformer (AST): ViT over overlapping patches of a mel spectrogram, whose class and distillation
// tokens are averaged.
// Source: Gong et al. 2021, arXiv 2104.01778; transformers' ASTForAudioClassification.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/vit_like.h"

namespace clearformer {

namespace audio_spectrogram_transformer {

constexpr std::string_view kPrefixes = "audio_spectrogram_transformer.";
constexpr std::string_view kRules = R"(
patch_embed embeddings.patch_embeddings.projection
cls_token embeddings.cls_token
distillation_token embeddings.distillation_token
pos_embed embeddings.position_embeddings
ln1 layernorm_before
ln2 layernorm_after
ln_final layernorm
classifier.norm /classifier.layernorm
classifier.out /classifier.dense
)";
constexpr KeyTable kKeys{
    .fields = R"("hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,
"intermediate_size":3072,"hidden_act":"gelu","layer_norm_eps":1e-12,"patch_size":16,
"qkv_bias":true,"frequency_stride":10,"time_stride":10,"max_length":1024,"num_mel_bins":128)",
    .others = R"("head_dim":null)",
    .neutral = R"("is_causal":false)"};

ImageEmbeddingConfig read_spectrograms(const ConfigReader& config, std::size_t d_model) {
  ImageEmbeddingConfig image;
  image.image_height = config.size("num_mel_bins");
  image.image_width = config.size("max_length");
  PatchConfig& patch = image.patch;
  patch.channels = 1;
  patch.patch_height = patch.patch_width = config.size("patch_size");
  patch.step_height = config.size("frequency_stride");
  patch.step_width = config.size("time_stride");
  patch.remainder = Remainder::drop;
  patch.spectrograms = true;
  patch.d_model = d_model;
  config.product("patch_size", config.product("patch_size", patch.patch_height, patch.patch_width),
                 d_model);
  const Grid grid = image.grid();
  if (config.product("max_length", grid.rows, grid.columns) == 0) {
    config.refuse_value("patch_size", "is ", patch.patch_height, ", larger than a spectrogram of ",
                        image.image_width, " frames and ", image.image_height, " mel bins");
  }
  image.distillation_token = true;
  return image;
}

AttentionConfig read_attention(const ConfigReader& config, std::size_t d_model) {
  if (!config.is_set("head_dim")) return read_heads(config, "num_attention_heads", d_model);
  AttentionConfig attention;
  attention.d_model = d_model;
  attention.num_heads = attention.num_key_value_heads = config.size("num_attention_heads");
  attention.d_head = config.size("head_dim");
  config.product("num_attention_heads", config.product("head_dim", 3, attention.d_head),
                 attention.num_heads);
  return attention;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task != Task::base && task != Task::sequence_classification) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_only;
  TowerConfig& tower = model.tower;
  const std::size_t d_model = config.size("hidden_size");
  tower.last_hidden = TowerConfig::LastHidden::raw;
  tower.image = read_spectrograms(config, d_model);
  tower.max_positions = tower.image->prefix() + tower.image->grid().patches();
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  BlockConfig& block = tower.stack.block;
  block.norm = layer_norm(d_model, read_epsilon(config, "layer_norm_eps"));
  block.attention = read_attention(config, d_model);
  block.attention.bias = read_bias(config, "qkv_bias");
  block.attention.bias.output = Bias::present;
  block.feed_forward = {d_model, config.size("intermediate_size"),
                        read_activation(config, "hidden_act", model)};
  HeadConfig head;
  head.d_model = d_model;
  head.pick = HeadConfig::Pick::first_two;
  if (task == Task::sequence_classification) {
    head.norm = block.norm;
    head.outputs = read_labels(config);
  }
  model.head = head;
  return model;
}

}  // namespace audio_spectrogram_transformer

const Architecture kAudioSpectrogram{"audio-spectrogram-transformer",
                                     audio_spectrogram_transformer::kKeys,
                                     audio_spectrogram_transformer::read_config,
                                     audio_spectrogram_transformer::kPrefixes,
                                     audio_spectrogram_transformer::kRules,
                                     kVitSchemes,
                                     {},
                                     Task::base};

}  // namespace clearformer
