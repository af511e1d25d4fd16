// PretrainedFolder: a Hugging Face checkpoint on disk, for native programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "clearformer/weights/weights.h"

namespace clearformer {

/// All bytes of a file; nullopt if it cannot be opened.
std::optional<std::string> file_text(const std::string& path);

/// The path of a file in a folder; throws invalid_argument if the folder's name is empty, which would be the root.
std::string path_in(const std::string& folder, std::string_view name);

/// model.safetensors.index.json of a folder, as text; nullopt if there is model.safetensors, which comes first, or no
/// index either. Throws unsupported for a folder whose weights are in other formats only.
std::optional<std::string> shard_index_text(const std::string& folder);

struct PretrainedFolder {
  std::string config;             // config.json, as text
  std::string generation_config;  // generation_config.json, or "{}" if there is none
  Weights weights;                // model.safetensors, else the shards that the index names

  /// Makes the plan of matrix formats from config.json.
  using PlanOf = std::function<MatrixPlan(const std::string& config)>;

  /// Throws invalid_argument naming a file that cannot be opened, or for an empty name of the folder, or what parsing
  /// the files throws.
  static PretrainedFolder read(const std::string& folder, const PlanOf& plan_of = nullptr);
};

}  // namespace clearformer
