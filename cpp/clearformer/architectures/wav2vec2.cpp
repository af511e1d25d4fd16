// wav2vec 2.0 and HuBERT: convolutions over the samples of a recording, then a post-norm or pre-norm encoder.
// Source: Baevski et al. 2020, arXiv 2006.11477; Hsu et al. 2021, arXiv 2106.07447; transformers' Wav2Vec2ForCTC and
// HubertForCTC.

#include <cmath>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/values.h"
#include "clearformer/layers/waveform_embedding.h"

namespace clearformer {

namespace wav2vec2 {

constexpr std::string_view kRules = R"(
features.*.conv feature_extractor.conv_layers.*.conv
features.*.norm feature_extractor.conv_layers.*.layer_norm
features.ln feature_projection.layer_norm
features.proj feature_projection.projection
pos_conv encoder.pos_conv_embed.conv
embed.ln encoder.layer_norm
ln_final encoder.layer_norm
blocks encoder.layers
attn attention
o_proj out_proj
ln1 layer_norm
mlp feed_forward
up_proj intermediate_dense
down_proj output_dense
ln2 final_layer_norm
ctc.out /lm_head
classifier.dense /projector
classifier.out /classifier
)";
// The names of torch's parametrizations, and of what it had before.
constexpr std::string_view kParametrized = R"(
weight_g parametrizations.weight.original0
weight_v parametrizations.weight.original1
)";
constexpr KeyScheme kSchemes[] = {{"parametrizations.", kParametrized}, {"", ""}};
constexpr std::string_view kIgnored = "*masked_spec_embed";

constexpr std::string_view kShared = R"("vocab_size":32,"hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"intermediate_size":3072,"hidden_act":"gelu","layer_norm_eps":1e-5,
"feat_extract_norm":"group","feat_extract_activation":"gelu",
"conv_dim":[512,512,512,512,512,512,512],"conv_stride":[5,2,2,2,2,2,2],
"conv_kernel":[10,3,3,3,3,2,2],"conv_bias":false,"num_conv_pos_embeddings":128,
"num_conv_pos_embedding_groups":16,"do_stable_layer_norm":false,"use_weighted_layer_sum":false,
"classifier_proj_size":256,"pad_token_id":0,"bos_token_id":1,"eos_token_id":2)";
constexpr KeyTable kKeys{.fields = kShared,
                         .neutral = R"("add_adapter":false,"adapter_attn_dim":null)"};
constexpr KeyTable kHubertKeys{.fields = R"("feat_proj_layer_norm":true)",
                               .shared_fields = kShared,
                               .neutral = R"("conv_pos_batch_norm":false,"adapter_attn_dim":null)"};

using Convolution = WaveformEmbeddingConfig::Convolution;

std::vector<Convolution> read_convolutions(const ConfigReader& config) {
  constexpr std::pair<const char*, std::size_t Convolution::*> kLists[] = {
      {"conv_dim", &Convolution::channels},
      {"conv_kernel", &Convolution::kernel},
      {"conv_stride", &Convolution::stride}};
  std::vector<Convolution> all(config.numbers("conv_dim").size());
  if (all.empty()) config.refuse_must("conv_dim", "list at least one convolution");
  for (const auto& [key, member] : kLists) {
    const std::vector<double> sizes = config.numbers(key);
    if (sizes.size() != all.size()) {
      config.refuse_value(key, "lists ", sizes.size(), " convolutions, conv_dim ", all.size());
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      constexpr double kMost = 1e5;
      if (sizes[i] < 1.0 || sizes[i] > kMost || sizes[i] != std::floor(sizes[i])) {
        config.refuse_must(key, "list integers from 1 to ", kMost);
      }
      all[i].*member = static_cast<std::size_t>(sizes[i]);
    }
  }
  std::size_t inputs = 1;
  for (const Convolution& each : all) {
    const std::size_t taps = config.product("conv_kernel", inputs, each.kernel);
    config.product("conv_dim", taps, each.channels);
    inputs = each.channels;
  }
  return all;
}

WaveformEmbeddingConfig read_waveform(const ConfigReader& config, const NormConfig& norm,
                                      ModelConfig& model) {
  WaveformEmbeddingConfig waveform;
  waveform.convolutions = read_convolutions(config);
  waveform.bias = read_bias(config, "conv_bias");
  const std::string norms = config.text("feat_extract_norm");
  if (norms != "group" && norms != "layer") {
    config.refuse_must("feat_extract_norm", "be group or layer");
  }
  using Norms = WaveformEmbeddingConfig::Norms;
  waveform.norms = norms == "group" ? Norms::first_channels : Norms::frames;
  waveform.activation = read_activation(config, "feat_extract_activation", model);
  if (!config.knows("feat_proj_layer_norm") || config.flag("feat_proj_layer_norm")) {
    waveform.feature_norm = layer_norm(waveform.convolutions.back().channels, norm.eps);
  }
  waveform.d_model = norm.shape[0];
  waveform.position_taps = config.size("num_conv_pos_embeddings");
  waveform.position_groups = config.size("num_conv_pos_embedding_groups");
  if (waveform.d_model % waveform.position_groups != 0) {
    config.refuse_value("num_conv_pos_embedding_groups", "is ", waveform.position_groups,
                        " and does not divide ", waveform.d_model, ", the size of the model");
  }
  config.product(
      "num_conv_pos_embeddings",
      config.product("hidden_size", waveform.d_model, waveform.d_model / waveform.position_groups),
      waveform.position_taps);
  return waveform;
}

HeadConfig read_head(const ConfigReader& config, Task task, const ModelConfig& model) {
  HeadConfig head;
  head.d_model = model.d_model();
  if (task == Task::ctc) {
    head.outputs = config.size("vocab_size");
    return head;
  }
  if (task != Task::sequence_classification) refuse_task(config, task);
  if (config.flag("use_weighted_layer_sum")) {
    config.refuse(ErrorCode::unsupported, "use_weighted_layer_sum",
                  "is true: a classifier of a sum of all layers is not supported");
  }
  head.pick = HeadConfig::Pick::mean;
  head.dense = Activation::linear;  // of the mean, which is the mean of all projected
  head.dense_outputs = config.size("classifier_proj_size");
  head.outputs = read_labels(config);
  return head;
}

// Automatic speech recognition, which is seq2seq_lm for a Whisper, is ctc here.
ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task == Task::seq2seq_lm) task = Task::ctc;
  if (config.is_set("vocab_size")) config.size("vocab_size");  // whatever the task
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_only;
  read_tokens(config, model);
  const std::size_t d_model = config.size("hidden_size");
  const NormConfig norm = layer_norm(d_model, read_epsilon(config, "layer_norm_eps"));
  const bool pre = config.flag("do_stable_layer_norm");
  TowerConfig& tower = model.tower;
  tower.max_positions = TowerConfig::kMost;
  WaveformEmbeddingConfig waveform = read_waveform(config, norm, model);
  if (!pre) waveform.norm = norm;
  tower.waveform = std::make_shared<WaveformEmbeddingConfig>(std::move(waveform));
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  tower.stack.final_norm = pre ? FinalNorm::present : FinalNorm::none;
  BlockConfig& block = tower.stack.block;
  block.order = pre ? NormOrder::pre : NormOrder::post;
  block.norm = norm;
  block.attention = read_heads(config, "num_attention_heads", d_model);
  block.attention.bias = Bias::present;
  block.feed_forward = {d_model, config.size("intermediate_size"),
                        read_activation(config, "hidden_act", model)};
  if (task != Task::base) model.head = read_head(config, task, model);
  return model;
}

}  // namespace wav2vec2

const Architecture kWav2vec2{"wav2vec2",         wav2vec2::kKeys,  wav2vec2::read_config,
                             "wav2vec2.",        wav2vec2::kRules, wav2vec2::kSchemes,
                             wav2vec2::kIgnored, Task::base};
const Architecture kHubert{
    "hubert",         wav2vec2::kHubertKeys, wav2vec2::read_config, "hubert.",
    wav2vec2::kRules, wav2vec2::kSchemes,    wav2vec2::kIgnored,    Task::base};

}  // namespace clearformer
