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

constexpr NameRule kStackRules[] = {
    {"*.blocks", "*.encoder.layers"},
    {"attn.o_proj", "self_attn.out_proj"},
    {"attn", "self_attn"},
    {"ln1", "layer_norm1"},
    {"ln2", "layer_norm2"},
    {"up_proj", "fc1"},
    {"down_proj", "fc2"},
    {"text_model.embed", "text_model.embeddings.token_embedding"},
    {"text_model.pos_embed", "text_model.embeddings.position_embedding"},
    {"text_model.ln_final", "text_model.final_layer_norm"},
    {"vision_model.patch_embed", "vision_model.embeddings.patch_embedding"},
    {"vision_model.pos_embed", "vision_model.embeddings.position_embedding.weight"},
};
constexpr KeyScheme kSchemes[] = {{"", kStackRules}};
constexpr NameRule kRules[] = {
    {"vision_model.cls_token", "vision_model.embeddings.class_embedding"},
    {"vision_model.embed.ln", "vision_model.pre_layrnorm"},
    {"text_pooler.out", "text_projection"},
    {"vision_pooler.norm", "vision_model.post_layernorm"},
    {"vision_pooler.out", "visual_projection"},
};
constexpr std::string_view kIgnored[] = {"*.embeddings.position_ids"};

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

ConfigReader read_clip_part(const ConfigReader& config, std::string_view key,
                            const KeyTable& table) {
  const auto part = config.object(key);
  return declared(part ? *part : config.with_members({}), table);
}

TowerConfig read_clip_stack(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower;
  const std::size_t d_model = config.size("hidden_size");
  tower.last_hidden = TowerConfig::LastHidden::raw;
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  BlockConfig& block = tower.stack.block;
  block.norm = layer_norm(d_model, read_epsilon(config, "layer_norm_eps"));
  block.attention = read_heads(config, "num_attention_heads", d_model);
  block.attention.bias = Bias::present;
  block.feed_forward = {d_model, config.size("intermediate_size"),
                        read_activation(config, "hidden_act", model)};
  return tower;
}

TowerConfig read_clip_text(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower = read_clip_stack(config, model);
  tower.max_positions = config.size("max_position_embeddings");
  tower.text = read_learned_text(config, tower.d_model(), tower.max_positions);
  read_tokens(config, model);
  return tower;
}

TowerConfig read_clip_vision(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower = read_clip_stack(config, model);
  ImageEmbeddingConfig& image = tower.image.emplace(read_image(config, tower.d_model()));
  image.class_token = false;
  tower.max_positions = image.grid().patches();
  return tower;
}

HeadConfig clip_pooler(const TowerConfig& tower, HeadConfig::Pick pick, std::size_t outputs,
                       Bias bias) {
  HeadConfig head;
  head.pick = pick;
  head.d_model = tower.d_model();
  head.outputs = outputs;
  head.bias = bias;
  return head;
}

std::span<const KeyScheme> clip_schemes() { return clip::kSchemes; }

const Architecture kClip{"clip",       clip::kKeys,    clip::read_config, {},
                         clip::kRules, clip::kSchemes, clip::kIgnored,    Task::base};

}  // namespace clearformer
