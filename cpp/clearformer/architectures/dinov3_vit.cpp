// DINOv3's vision transformers: ViT with registers, layer scale, rotary positions of the patches and optionally a gated
// feed-forward network.
// Source: Siméoni et al. 2025, arXiv 2508.10104; transformers' DINOv3ViTModel.

#include <limits>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/vit_like.h"

namespace clearformer {

namespace dinov3_vit {

constexpr std::string_view kRules = R"(
patch_embed embeddings.patch_embeddings
cls_token embeddings.cls_token
register_tokens embeddings.register_tokens
ln1 norm1
ln2 norm2
ln1_scale.weight layer_scale1.lambda1
ln2_scale.weight layer_scale2.lambda1
attn attention
ln_final norm
)";
// The names of transformers' modules, and those of files.
constexpr KeyScheme kSchemes[] = {{"model.layer.", "blocks model.layer", never_saved},
                                  {"", "blocks layer"}};
// Of pre-training; and registers without rows, which models without registers have.
constexpr std::string_view kIgnored = "embeddings.mask_token embeddings.register_tokens";

constexpr KeyTable kKeys{.fields = R"("hidden_size":384,"intermediate_size":1536,
"num_hidden_layers":12,"num_attention_heads":6,"hidden_act":"gelu","layer_norm_eps":1e-5,
"rope_theta":100.0,"image_size":224,"patch_size":16,"num_channels":3,"query_bias":true,
"key_bias":false,"value_bias":true,"proj_bias":true,"mlp_bias":true,"use_gated_mlp":false,
"num_register_tokens":0)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task != Task::base) refuse_task(config, task);
  ModelConfig model = read_image_encoder(config, task);
  TowerConfig& tower = model.tower;
  BlockConfig& block = tower.stack.block;
  block.layer_scale = LayerScale::present;
  AttentionBias& bias = block.attention.bias;
  bias.query = read_bias(config, "query_bias");
  bias.key = read_bias(config, "key_bias");
  bias.value = read_bias(config, "value_bias");
  bias.output = read_bias(config, "proj_bias");
  block.feed_forward = {tower.d_model(), config.size("intermediate_size"),
                        read_activation(config, "hidden_act", model),
                        config.flag("use_gated_mlp") ? Gate::present : Gate::none,
                        read_bias(config, "mlp_bias")};
  const std::size_t d_head = block.attention.d_head;
  if (d_head % 4 != 0) {
    config.refuse_value("num_attention_heads", "leaves heads of ", d_head,
                        " dimensions, rotary positions of patches need a multiple of 4");
  }
  ImageEmbeddingConfig& image = *tower.image;
  image.registers = config.count("num_register_tokens", 0);
  image.other_sizes = OtherSizes::interpolate;
  using Base = std::numeric_limits<double>;
  image.rotary_pairs = d_head / 4;
  image.rotary_base = config.number_in("rope_theta", Base::min(), Base::max());
  tower.max_positions = image.prefix() + image.grid().patches();
  model.head = encoder_head(config, task, model, {});
  return model;
}

}  // namespace dinov3_vit

const Architecture kDinov3Vit{
    "dinov3_vit",       dinov3_vit::kKeys,    dinov3_vit::read_config, "",
    dinov3_vit::kRules, dinov3_vit::kSchemes, dinov3_vit::kIgnored,    Task::base};

}  // namespace clearformer
