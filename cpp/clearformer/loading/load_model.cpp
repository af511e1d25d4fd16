#include "clearformer/loading/load_model.h"

#include "clearformer/architectures/architecture.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/loading/pretrained_folder.h"
#include "clearformer/loading/stored_frequencies.h"
#include "clearformer/loading/ties.h"
#include "clearformer/models/cost.h"
#include "clearformer/models/decoder_only.h"
#include "clearformer/models/dual_encoder.h"
#include "clearformer/models/encoder_decoder.h"
#include "clearformer/models/encoder_only.h"
#include "clearformer/tensor/pattern.h"
#include "clearformer/tensor/typed_memory.h"

namespace clearformer {

namespace {

template <class Kind>
std::unique_ptr<Kind> built(ModelConfig&& config, const WeightScope& scope) {
  return std::make_unique<Kind>(std::move(config), scope);
}

// Calls `work` with the function that builds the config's kind of model; a stack and a head above it are one kind.
template <class Work>
auto with_kind(const ModelConfig& config, Work&& work) {
  const bool headed = config.kind == ModelKind::decoder_only && config.head;
  switch (headed ? ModelKind::encoder_only : config.kind) {
    case ModelKind::encoder_only: return work(built<EncoderOnlyModel>);
    case ModelKind::decoder_only: return work(built<DecoderOnlyModel>);
    case ModelKind::encoder_decoder: return work(built<EncoderDecoderModel>);
    default: return work(built<DualEncoderModel>);
  }
}

// Rotary tables are computed only after all weights are found to have the config's shapes.
std::unique_ptr<Model> make_model(ModelConfig&& config, const Weights& weights,
                                  const WeightScope& scope) {
  return with_kind(config, [&](auto build) -> std::unique_ptr<Model> {
    auto model = build(std::move(config), scope);
    weights.check(Weights::Unexpected::keep);
    model->prepare_rotary();
    return model;
  });
}

std::unique_ptr<Model> loaded_model(Weights weights, std::string_view config_text,
                                    std::optional<Task> task, std::string config_file,
                                    CacheFormat cache) {
  const ConfigReader reader(config_text, std::move(config_file));
  const Architecture& architecture = architecture_of(reader);
  ModelConfig config = read_model_config(reader, task);
  config.cache_format = cache;
  if (cache != CacheFormat::f32 && !cache_bytes(config).any()) {
    fail(ErrorCode::unsupported, "cache_dtype \"", to_string(cache), "\": ", config.model_type,
         " for the task ", to_string(config.task),
         " generates no tokens: it keeps no keys and values");
  }
  weights.modernize();
  const NameMap names = architecture.names(weights, config);
  settle_ties(config, weights, names);
  if (config.tower.stores_frequencies) adopt_frequencies(config.tower, weights);
  auto model = make_model(std::move(config), weights, WeightScope(weights, names));
  for (const std::string_view pattern : split(architecture.ignored)) weights.ignore(pattern);
  architecture.expect_one_prefix(weights);
  model->loaded(weights, architecture.synonyms());
  return model;
}

}  // namespace

void record_weights(ModelConfig config, const WeightScope& scope) {
  with_kind(config, [&](auto build) { build(std::move(config), scope); });
}

std::vector<Weights::Needed> needed_tensors(std::string_view config_text, std::optional<Task> task,
                                            std::string config_file) {
  const ConfigReader reader(config_text, std::move(config_file));
  const ModelConfig config = read_model_config(reader, task);
  const Architecture& architecture = architecture_of(reader);
  const auto needed = [&](std::string_view scheme) {
    std::vector<MatrixRequest> matrices;
    Weights recording = Weights::recording(matrices);
    const NameMap names = architecture.saved_names(config, scheme);
    record_weights(config, WeightScope(recording, names));
    return recording.needed();
  };
  for (const KeyScheme& scheme : architecture.schemes) {
    if (scheme.saved != nullptr && !scheme.saved(reader, config)) continue;
    std::vector<Weights::Needed> tensors = needed(scheme.rules);
    for (const Weights::Needed& tensor : tensors) {
      if (tensor.name.find(scheme.marker) != std::string::npos) return tensors;
    }
  }
  return needed("");
}

MatrixPlan plan_matrices(std::string_view config_text, std::optional<Task> task,
                         const MatrixPolicy& policy, std::string config_file) {
  if (!policy) fail(ErrorCode::invalid_argument, "plan_matrices: there is no policy");
  const ConfigReader reader(config_text, std::move(config_file));
  ModelConfig config = read_model_config(reader, task);
  std::vector<MatrixRequest> matrices;
  const std::vector<Tie> ties = ties_of(config);
  Weights recording = Weights::recording(matrices);
  const NameMap ours;
  record_weights(std::move(config), WeightScope(recording, ours));
  MatrixPlan plan;
  for (const NameMap& names : architecture_of(reader).spellings()) {
    for (const MatrixRequest& matrix : matrices) {
      plan.add(names.stored(matrix.path), policy(matrix));
      // Tensors that may turn out to be tied are kept in the same format.
      for (const Tie& tie : ties) {
        if (tie.source == matrix.path) plan.add(names.stored(tie.tensor), policy(matrix));
      }
    }
  }
  return plan;
}

std::unique_ptr<Model> load_model(Weights weights, std::string_view config_text,
                                  std::optional<Task> task, std::string config_file,
                                  CacheFormat cache) {
  return typed_memory([&] {
    return loaded_model(std::move(weights), config_text, task, std::move(config_file), cache);
  });
}

std::unique_ptr<Model> from_pretrained(const std::string& folder, std::optional<Task> task,
                                       MatrixFormat dtype, CacheFormat cache) {
  return typed_memory([&] {
    PretrainedFolder checkpoint = PretrainedFolder::read(
        folder, [&](const std::string& config) { return plan_matrices(config, task, dtype); });
    return loaded_model(std::move(checkpoint.weights), checkpoint.config, task, "config.json",
                        cache);
  });
}

}  // namespace clearformer
