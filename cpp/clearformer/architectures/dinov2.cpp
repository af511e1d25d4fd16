// DINOv2, with or without registers: ViT with layer scale, positions interpolated to any image, and optionally SwiGLU.
// Source: Oquab et al. 2023, arXiv 2304.07193; Darcet et al. 2023, arXiv 2309.16588; transformers'
// Dinov2ForImageClassification, Dinov2WithRegistersForImageClassification.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/vit_like.h"

namespace clearformer {

namespace dinov2 {

constexpr std::string_view kRules = R"(
patch_embed embeddings.patch_embeddings.projection
cls_token embeddings.cls_token
register_tokens embeddings.register_tokens
pos_embed embeddings.position_embeddings
blocks encoder.layer
ln1 norm1
ln2 norm2
ln1_scale.weight layer_scale1.lambda1
ln2_scale.weight layer_scale2.lambda1
attn.q_proj attention.attention.query
attn.k_proj attention.attention.key
attn.v_proj attention.attention.value
attn.o_proj attention.output.dense
ln_final layernorm
classifier.out /classifier
)";
constexpr std::string_view kGated = R"(
gate_proj weights_in 0/2
up_proj weights_in 1/2
down_proj weights_out
)";
constexpr std::string_view kPlain = R"(
up_proj fc1
down_proj fc2
)";
constexpr KeyScheme kSchemes[] = {{".weights_in.", kGated, is_gated}, {"", kPlain}};
constexpr std::string_view kPrefixes = "dinov2.", kRegisterPrefixes = "dinov2_with_registers.";
constexpr std::string_view kIgnored = "*embeddings.mask_token";  // of pre-training

constexpr KeyTable kKeys{.fields = R"("hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"mlp_ratio":4,"hidden_act":"gelu","layer_norm_eps":1e-6,"image_size":224,
"patch_size":14,"num_channels":3,"qkv_bias":true,"use_swiglu_ffn":false)"};
constexpr KeyTable kRegisterKeys{.fields = R"("hidden_size":768,"num_hidden_layers":12,
"num_attention_heads":12,"mlp_ratio":4,"hidden_act":"gelu","layer_norm_eps":1e-6,"image_size":224,
"patch_size":16,"num_channels":3,"qkv_bias":true,"use_swiglu_ffn":false,"num_register_tokens":4)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_image_encoder(config, task);
  TowerConfig& tower = model.tower;
  BlockConfig& block = tower.stack.block;
  const std::size_t d_model = tower.d_model(),
                    hidden = config.product("mlp_ratio", d_model, config.size("mlp_ratio"));
  block.layer_scale = LayerScale::present;
  if (config.flag("use_swiglu_ffn")) {
    model.activation = "silu";
    block.feed_forward = {d_model, (hidden * 2 / 3 + 7) / 8 * 8, Activation::silu, Gate::present};
  } else {
    block.feed_forward = {d_model, hidden, read_activation(config, "hidden_act", model)};
  }
  ImageEmbeddingConfig& image = *tower.image;
  image.other_sizes = OtherSizes::interpolate;
  if (config.knows("num_register_tokens")) {
    image.registers = config.count("num_register_tokens", 0);
    image.other_sizes = OtherSizes::antialias;
  }
  tower.max_positions = image.prefix() + image.grid().patches();
  model.head = encoder_head(config, task, model, {});
  if (task == Task::base) return model;
  model.head->pick = HeadConfig::Pick::first_and_patches;
  model.head->patches_from = image.prefix();
  return model;
}

}  // namespace dinov2

const Architecture kDinov2{"dinov2",       dinov2::kKeys,    dinov2::read_config, dinov2::kPrefixes,
                           dinov2::kRules, dinov2::kSchemes, dinov2::kIgnored,    Task::base};
const Architecture kDinov2WithRegisters{
    "dinov2_with_registers", dinov2::kRegisterKeys, dinov2::read_config, dinov2::kRegisterPrefixes,
    dinov2::kRules,          dinov2::kSchemes,      dinov2::kIgnored,    Task::base};

}  // namespace clearformer
