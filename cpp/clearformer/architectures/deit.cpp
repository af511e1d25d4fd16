// DeiT: ViT with a distillation token, trained on a teacher's predictions.
// Source: Touvron et al. 2020, arXiv 2012.12877; transformers' DeiTForImageClassification and
// DeiTForImageClassificationWithTeacher.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/vit_like.h"

namespace clearformer {

namespace deit {

constexpr std::string_view kPrefixes = "deit.";

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_vit_like(config, task);
  ImageEmbeddingConfig& image = *model.tower.image;
  image.distillation_token = true;
  model.tower.max_positions = image.prefix() + image.grid().patches();
  if (task != Task::image_classification) return model;
  for (const std::string& name : config.texts("architectures")) {
    if (!name.ends_with("WithTeacher")) continue;
    model.second_head = model.head;
    model.second_head->pick = HeadConfig::Pick::second;
  }
  return model;
}

}  // namespace deit

const Architecture kDeit{"deit",      kVitKeys, deit::read_config, deit::kPrefixes, kVitRules,
                         kVitSchemes, {},       Task::base};

}  // namespace clearformer
