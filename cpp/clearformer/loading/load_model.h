// Builds a model from a checkpoint: its config.json and its tensors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/models/model.h"
#include "clearformer/weights/scope.h"

namespace clearformer {

/// Builds the model that config.json describes. Throws missing_tensor, shape_mismatch,
/// dtype_mismatch, malformed_config or unsupported. `config_file` is the file name used in messages; without a task,
/// the one implied by the config's "architectures" is used. Caches of the model keep keys and values in `cache`; it
/// throws unsupported if that is not fp32 and the model has none.
std::unique_ptr<Model> load_model(Weights weights, std::string_view config_text,
                                  std::optional<Task> task = std::nullopt,
                                  std::string config_file = "config.json",
                                  CacheFormat cache = CacheFormat::f32);

/// The same from a Hugging Face folder on disk: config.json, model.safetensors or its shards. The weights of linear
/// layers are kept in `dtype` (see matrix_policy.h), rounded as they are read. Throws also invalid_argument for a file
/// that cannot be opened and malformed_file for weights that are damaged or end early.
std::unique_ptr<Model> from_pretrained(const std::string& folder,
                                       std::optional<Task> task = std::nullopt,
                                       MatrixFormat dtype = MatrixFormat::f32,
                                       CacheFormat cache = CacheFormat::f32);

/// The tensors that load_model() takes for this config and task, under the names that transformers gives them, without
/// those that are tied to others; of the naming schemes the first whose marker one of its names contains. Leading axes
/// of size 1 may be missing. Throws malformed_config or unsupported.
std::vector<Weights::Needed> needed_tensors(std::string_view config_text,
                                            std::optional<Task> task = std::nullopt,
                                            std::string config_file = "config.json");

/// Builds a model's layers over weights that record requests, and nothing else.
void record_weights(ModelConfig config, const WeightScope& scope);

}  // namespace clearformer
