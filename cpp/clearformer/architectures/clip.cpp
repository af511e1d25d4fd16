// CLIP: a causal text transformer and a vision transformer with a common embedding space.
// Source: Radford et al. 2021, arXiv 2103.00020; transformers' CLIPModel.

#include "clearformer/architectures/clip_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

const KeyTable kClipTextKeys{
    .fields = R"("vocab_size":49408,"hidden_size":512,"intermediate_size":2048,
"num_hidden_layers":12,"num_attention_heads":8,"max_position_embeddings":77,
"hidden_act":"quick_gelu","layer_norm_eps":1e-5,"pad_token_id":1,"bos_token_id":49406,
"eos_token_id":49407)",
    .neutral = R"("is_causal":true)"};
const KeyTable kClipVisionKeys{
    .fields = R"("hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,
"num_attention_heads":12,"num_channels":3,"image_size":224,"patch_size":32,
"hidden_act":"quick_gelu","layer_norm_eps":1e-5)",
    .neutral = R"("is_causal":false)"};

namespace clip {

constexpr std::string_view kRules = R"(
vision_model.cls_token vision_model.embeddings.class_embedding
vision_model.embed.ln vision_model.pre_layrnorm
text_pooler.out text_projection
vision_pooler.norm vision_model.post_layernorm
vision_pooler.out visual_projection
)";
// transformers' CLIPModel does not read "projection_dim" of the towers' own configs.
constexpr KeyTable kKeys{
    .fields = R"("text_config":null,"vision_config":null,"projection_dim":512)",
    .others = R"("text_config_dict":null,"vision_config_dict":null)"};
// Reads "text_config", or "text_config_dict", in which older files repeat all of it.
ConfigReader read_part(const ConfigReader& config, const std::string& key, const KeyTable& table) {
  return read_clip_part(config, config.object(key + "_dict") ? key + "_dict" : key, table);
}

TowerConfig read_text(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower = read_clip_text(config, model);
  tower.attends = TowerConfig::Attends::to_the_past;
  // The value 2 predates the option: there the end token is the one with the highest id.
  const std::int32_t end = model.eos_token_ids.empty() ? 2 : model.eos_token_ids.front();
  if (end != 2) model.pooled_token_id = end;
  return tower;
}

TowerConfig read_vision(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower = read_clip_vision(config, model);
  tower.stack.final_norm = FinalNorm::none;  // its norm is applied after pooling
  tower.image->class_token = true;
  tower.image->patch.bias = Bias::none;
  tower.image->norm = tower.stack.block.norm;
  ++tower.max_positions;
  return tower;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task != Task::base) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::dual_encoder;
  model.second = read_vision(read_part(config, "vision_config", kClipVisionKeys), model);
  model.tower = read_text(read_part(config, "text_config", kClipTextKeys), model);
  const std::size_t width = config.size("projection_dim");
  model.head = clip_pooler(model.tower, HeadConfig::Pick::given, width, Bias::none);
  model.second_head = clip_pooler(*model.second, HeadConfig::Pick::first, width, Bias::none);
  model.second_head->norm = model.second->stack.block.norm;
  return model;
}

}  // namespace clip

const Architecture kClip{"clip",       clip::kKeys,  clip::read_config, {},
                         clip::kRules, kClipSchemes, kClipIgnored,      Task::base};

}  // namespace clearformer
