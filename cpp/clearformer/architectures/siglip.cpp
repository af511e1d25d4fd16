// SigLIP, and SigLIP 2 of fixed resolution: CLIP without class token and causal mask; the image is pooled by attention,
// the text's last token is read, and logits have a bias.
// Source: Zhai et al. 2023, arXiv 2303.15343; Tschannen et al. 2025, arXiv 2502.14786; transformers' SiglipModel,
// SiglipForImageClassification.

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

constexpr NameRule kRules[] = {
    {"*.blocks", "*.encoder.layers"},
    {"blocks", "vision_model.encoder.layers"},
    {"text_model.embed", "text_model.embeddings.token_embedding"},
    {"text_model.pos_embed", "text_model.embeddings.position_embedding"},
    {"text_model.ln_final", "text_model.final_layer_norm"},
    {"text_pooler.out", "text_model.head"},
    {"vision_model.patch_embed", "vision_model.embeddings.patch_embedding"},
    {"vision_model.pos_embed", "vision_model.embeddings.position_embedding.weight"},
    {"vision_model.ln_final", "vision_model.post_layernorm"},
    {"patch_embed", "vision_model.embeddings.patch_embedding"},
    {"pos_embed", "vision_model.embeddings.position_embedding.weight"},
    {"ln_final", "vision_model.post_layernorm"},
    {"classifier.out", "classifier"},
    {"vision_pooler.attn.q_proj.weight", "vision_model.head.attention.in_proj_weight", 0, 3},
    {"vision_pooler.attn.k_proj.weight", "vision_model.head.attention.in_proj_weight", 1, 3},
    {"vision_pooler.attn.v_proj.weight", "vision_model.head.attention.in_proj_weight", 2, 3},
    {"vision_pooler.attn.q_proj.bias", "vision_model.head.attention.in_proj_bias", 0, 3},
    {"vision_pooler.attn.k_proj.bias", "vision_model.head.attention.in_proj_bias", 1, 3},
    {"vision_pooler.attn.v_proj.bias", "vision_model.head.attention.in_proj_bias", 2, 3},
    {"vision_pooler.attn.o_proj", "vision_model.head.attention.out_proj"},
    {"vision_pooler.ln2", "vision_model.head.layernorm"},
    {"vision_pooler", "vision_model.head"},
    {"attn.o_proj", "self_attn.out_proj"},
    {"attn", "self_attn"},
    {"ln1", "layer_norm1"},
    {"ln2", "layer_norm2"},
    {"up_proj", "fc1"},
    {"down_proj", "fc2"},
};
constexpr std::string_view kIgnored[] = {"*.embeddings.position_ids"};
constexpr KeyTable kKeys{.fields = R"("text_config":null,"vision_config":null)"};

TowerConfig read_vision(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower = read_clip_stack(config, model);
  ImageEmbeddingConfig image = read_image(config, tower.d_model());
  image.class_token = false;
  image.patch.remainder = Remainder::drop;
  tower.image = image;
  tower.max_positions = image.grid().patches();
  return tower;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  const auto part = [&](const char* key, const KeyTable& table) {
    const auto nested = config.object(key);
    return declared(nested ? *nested : config.with_members({}), table);
  };
  const ConfigReader images = part("vision_config", kSiglipVisionKeys);
  const TowerConfig vision = read_vision(images, model);
  if (task == Task::image_classification) {
    model.kind = ModelKind::encoder_only;
    model.tower = vision;
    model.head = encoder_head(config, task, model, {});
    model.head->pick = HeadConfig::Pick::mean;
    return model;
  }
  if (task != Task::base) refuse_task(config, task);
  if (!images.flag("vision_use_head")) images.refuse_must("vision_use_head", "be true");
  model.kind = ModelKind::dual_encoder;
  model.logit_bias = true;
  model.second = vision;
  const ConfigReader text = part("text_config", kSiglipTextKeys);
  model.tower = read_clip_stack(text, model);
  embed_clip_text(text, model.tower);
  read_tokens(text, model);
  HeadConfig& head = model.head.emplace();
  head.pick = HeadConfig::Pick::last;
  head.d_model = model.tower.d_model();
  head.outputs = text.size("projection_size", head.d_model);
  const BlockConfig& block = vision.stack.block;
  model.second_head.emplace().d_model = vision.d_model();
  model.second_head->probe = ProbeAttentionConfig{block.attention, block.feed_forward, block.norm};
  return model;
}

}  // namespace siglip

const Architecture kSiglip{"siglip", siglip::kKeys,    siglip::read_config, {}, siglip::kRules,
                           {},       siglip::kIgnored, Task::base};

}  // namespace clearformer
