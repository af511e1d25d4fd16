// SigLIP, and SigLIP 2 of fixed resolution: CLIP without class token and causal mask; the image is pooled by attention,
// the text's last token is read, and logits have a bias.
// Source: Zhai et al. 2023, arXiv 2303.15343; Tschannen et al. 2025, arXiv 2502.14786; transformers' SiglipModel.

#include "clearformer/architectures/clip_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

const KeyTable kSiglipTextKeys{
    .fields = R"("vocab_size":32000,"hidden_size":768,"intermediate_size":3072,
"num_hidden_layers":12,"num_attention_heads":12,"max_position_embeddings":64,
"hidden_act":"gelu_pytorch_tanh","layer_norm_eps":1e-6,"pad_token_id":1,"bos_token_id":49406,
"eos_token_id":49407,"projection_size":null)",
    .neutral = R"("is_causal":false)"};
const KeyTable kSiglipVisionKeys{
    .fields = R"("hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,
"num_attention_heads":12,"num_channels":3,"image_size":224,"patch_size":16,
"hidden_act":"gelu_pytorch_tanh","layer_norm_eps":1e-6)",
    .others = R"("vision_use_head":true)"};

namespace siglip {

// The first five are the image classifier's, whose only stack has no scope.
constexpr std::string_view kRules = R"(
blocks vision_model.encoder.layers
patch_embed vision_model.embeddings.patch_embedding
pos_embed vision_model.embeddings.position_embedding.weight
ln_final vision_model.post_layernorm
classifier.out classifier
vision_model.ln_final vision_model.post_layernorm
text_pooler.out text_model.head
vision_pooler.attn.q_proj.weight vision_model.head.attention.in_proj_weight 0/3
vision_pooler.attn.k_proj.weight vision_model.head.attention.in_proj_weight 1/3
vision_pooler.attn.v_proj.weight vision_model.head.attention.in_proj_weight 2/3
vision_pooler.attn.q_proj.bias vision_model.head.attention.in_proj_bias 0/3
vision_pooler.attn.k_proj.bias vision_model.head.attention.in_proj_bias 1/3
vision_pooler.attn.v_proj.bias vision_model.head.attention.in_proj_bias 2/3
vision_pooler.attn.o_proj vision_model.head.attention.out_proj
vision_pooler.ln2 vision_model.head.layernorm
vision_pooler vision_model.head
)";
constexpr KeyTable kKeys{.fields = R"("text_config":null,"vision_config":null)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  const bool classifies = task == Task::image_classification;
  if (task != Task::base && !classifies) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = classifies ? ModelKind::encoder_only : ModelKind::dual_encoder;
  const ConfigReader images = read_clip_part(config, "vision_config", kSiglipVisionKeys);
  TowerConfig vision = read_clip_vision(images, model);
  if (classifies) {
    model.tower = vision;
    model.head = encoder_head(config, task, model, {});
    model.head->pick = HeadConfig::Pick::mean;
    return model;
  }
  if (!images.flag("vision_use_head")) images.refuse_must("vision_use_head", "be true");
  const BlockConfig& block = vision.stack.block;
  model.logit_bias = true;
  model.second_head.emplace().d_model = vision.d_model();
  model.second_head->probe = ProbeAttentionConfig{block.attention, block.feed_forward, block.norm};
  const ConfigReader text = read_clip_part(config, "text_config", kSiglipTextKeys);
  model.tower = read_clip_text(text, model);
  const std::size_t width = text.size("projection_size", model.tower.d_model());
  model.head = clip_pooler(model.tower, HeadConfig::Pick::last, width, Bias::present);
  model.second = std::move(vision);
  return model;
}

}  // namespace siglip

const Architecture kSiglip{"siglip",       siglip::kKeys, siglip::read_config, {},
                           siglip::kRules, kClipSchemes,  kClipIgnored,        Task::base};

}  // namespace clearformer
