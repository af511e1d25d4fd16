// ViT: pre-norm encoder over a class token and image patches.
// Source: Dosovitskiy et al. 2020, arXiv 2010.11929; transformers' ViTForImageClassification.

#include <tuple>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/vit_like.h"

namespace clearformer {

namespace vit {

constexpr std::string_view kPrefixes = "vit.";

}  // namespace vit

const KeyTable kVitKeys{
    .fields = R"("hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,
"intermediate_size":3072,"hidden_act":"gelu","layer_norm_eps":1e-12,"image_size":224,
"patch_size":16,"num_channels":3,"qkv_bias":true,"pooler_output_size":null,"pooler_act":"tanh")",
    .neutral = R"("is_causal":false)"};

std::pair<std::size_t, std::size_t> read_extent(const ConfigReader& config, std::string_view key) {
  const Json* value = config.find_set(key);
  if (value == nullptr || !value->is_array()) {
    const std::size_t size = config.size(key);
    return {size, size};
  }
  const std::vector<double> sizes = config.numbers(key);
  for (const double size : sizes) {
    if (sizes.size() != 2 || size < 1.0 || size > 1e6) {
      config.refuse_must(key, "be a number or [height, width]");
    }
  }
  if (sizes.empty()) config.refuse_must(key, "be a number or [height, width]");
  return {static_cast<std::size_t>(sizes[0]), static_cast<std::size_t>(sizes[1])};
}

ImageEmbeddingConfig read_image(const ConfigReader& config, std::size_t d_model) {
  ImageEmbeddingConfig image;
  std::tie(image.image_height, image.image_width) = read_extent(config, "image_size");
  std::tie(image.patch.patch_height, image.patch.patch_width) = read_extent(config, "patch_size");
  image.patch.remainder = Remainder::drop;
  image.patch.channels = config.size("num_channels");
  const PatchConfig& patch = image.patch;
  config.product("patch_size", config.product("patch_size", patch.patch_height, patch.patch_width),
                 patch.channels);
  config.product("image_size", image.grid().rows, image.grid().columns);
  image.patch.d_model = d_model;
  return image;
}

ModelConfig read_image_encoder(const ConfigReader& config, Task task) {
  if (task != Task::base && task != Task::image_classification) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_only;
  const std::size_t d_model = config.size("hidden_size");
  TowerConfig& tower = model.tower;
  tower.last_hidden = TowerConfig::LastHidden::raw;
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  BlockConfig& block = tower.stack.block;
  block.norm = layer_norm(d_model, read_epsilon(config, "layer_norm_eps"));
  block.attention = read_heads(config, "num_attention_heads", d_model);
  if (config.knows("qkv_bias")) block.attention.bias = read_bias(config, "qkv_bias");
  block.attention.bias.output = Bias::present;
  tower.image = read_image(config, d_model);
  return model;
}

ModelConfig read_vit_like(const ConfigReader& config, Task task) {
  ModelConfig model = read_image_encoder(config, task);
  TowerConfig& tower = model.tower;
  const std::size_t d_model = tower.d_model();
  tower.stack.block.feed_forward = {d_model, config.size("intermediate_size"),
                                    read_activation(config, "hidden_act", model)};
  tower.max_positions = tower.image->prefix() + tower.image->grid().patches();
  ModelConfig pooler;  // not the model: its activation name differs
  EncoderHeads heads;
  heads.pooler = read_activation(config, "pooler_act", pooler);
  model.head = encoder_head(config, task, model, heads);
  if (task == Task::base) model.head->dense_outputs = config.size("pooler_output_size", d_model);
  return model;
}

const Architecture kVit{"vit",       kVitKeys, read_vit_like, vit::kPrefixes, kVitRules,
                        kVitSchemes, {},       Task::base};

}  // namespace clearformer
