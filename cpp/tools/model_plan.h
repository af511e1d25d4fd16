// ModelPlan: what this library makes of a checkpoint, found without reading the weights: the model is built
// over tensors of zeros in the stored shapes.
#pragma once

#include <optional>

#include "clearformer/models/model.h"
#include "tools/checkpoint_headers.h"

namespace clearformer::tools {

struct ModelPlan {
  /// Throws nothing: what keeps the model from being built is among the problems.
  static ModelPlan make(const std::string& folder, const CheckpointHeaders& headers);

  std::string model_type;            // of config.json, also where it is not supported; may be empty
  std::vector<std::string> classes;  // "architectures" of config.json
  std::optional<ModelConfig> config;                   // where the architecture is supported
  std::vector<Task> tasks;                             // that the architecture has heads for
  std::optional<std::vector<std::string>> hooks;       // where the model could be built
  std::optional<std::vector<std::string>> unexpected;  // tensors it does not use
  std::vector<std::string> problems;                   // of config.json and of tensors

 private:
  void read_config(const std::string& text);
  void build(const std::string& text, const CheckpointHeaders& headers);
};

/// The problems that a message of Weights::check() lists.
std::vector<std::string> problems_in(const Error& error);

std::string_view to_string(ModelKind kind);

}  // namespace clearformer::tools
