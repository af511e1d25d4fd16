// PretrainedFolder: a Hugging Face checkpoint on disk, for native programs.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "clearformer/weights/weights.h"

namespace clearformer {

/// All bytes of a file; nullopt if it cannot be opened.
std::optional<std::string> file_text(const std::string& path);

struct PretrainedFolder {
  std::string config;             // config.json, as text
  std::string generation_config;  // generation_config.json, or "{}" if there is none
  Weights weights;                // model.safetensors, or the shards its index names

  /// Makes the plan of matrix formats from config.json.
  using PlanOf = std::function<MatrixPlan(const std::string& config)>;

  /// Throws invalid_argument naming a file that cannot be opened, or what parsing the files throws.
  static PretrainedFolder read(const std::string& folder, const PlanOf& plan_of = nullptr);
};

}  // namespace clearformer
