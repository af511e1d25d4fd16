#include "clearformer/architectures/clip_like.h"

namespace clearformer {

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

}  // namespace clearformer
