#include "clearformer/models/decoder_only.h"
#include "clearformer/models/dual_encoder.h"
#include "clearformer/models/encoder_decoder.h"
#include "clearformer/models/encoder_only.h"
#include "clearformer/models/pretrained_folder.h"

namespace clearformer {

namespace {

// Rotary tables and the like are made once all weights are there in the config's shapes.
template <class Kind>
std::unique_ptr<Model> make(ModelConfig config, const Weights& weights, const WeightScope& scope) {
  auto model = std::make_unique<Kind>(std::move(config), scope);
  weights.check(Weights::Unexpected::keep);
  model->prepare_rotary();
  return model;
}

std::unique_ptr<Model> make_model(ModelConfig config, const Weights& weights,
                                  const WeightScope& scope) {
  switch (config.kind) {
    case ModelKind::encoder_only: return make<EncoderOnlyModel>(std::move(config), weights, scope);
    case ModelKind::decoder_only: return make<DecoderOnlyModel>(std::move(config), weights, scope);
    case ModelKind::encoder_decoder:
      return make<EncoderDecoderModel>(std::move(config), weights, scope);
    default: return make<DualEncoderModel>(std::move(config), weights, scope);
  }
}

}  // namespace

std::unique_ptr<Model> load_model(Weights weights, std::string_view config_text,
                                  std::optional<Task> task, std::string config_file) {
  const ConfigReader reader(config_text, std::move(config_file));
  const Architecture& architecture = architecture_of(reader);
  ModelConfig config = read_model_config(reader, task);
  weights.modernize();
  const NameMap names = architecture.names(weights);
  auto model = make_model(std::move(config), weights, WeightScope(weights, names));
  for (const std::string_view pattern : architecture.ignored) weights.ignore(pattern);
  model->unexpected_ = weights.unused();
  return model;
}

std::unique_ptr<Model> from_pretrained(const std::string& folder, std::optional<Task> task) {
  PretrainedFolder checkpoint = PretrainedFolder::read(folder);
  return load_model(std::move(checkpoint.weights), checkpoint.config, task);
}

}  // namespace clearformer
