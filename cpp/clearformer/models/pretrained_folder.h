// PretrainedFolder: a Hugging Face checkpoint on disk, as native programs read it.
#pragma once

#include <optional>
#include <string>

#include "clearformer/models/config.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

struct PretrainedFolder {
  std::string config;             // config.json, as text
  std::string generation_config;  // generation_config.json, or "{}" when there is none
  Weights weights;                // model.safetensors, or the shards its index names

  /// Keeps the weights of the linear layers of the model for `task` in `dtype`. Throws
  /// invalid_argument naming the file that cannot be opened, or what the files' readers throw.
  static PretrainedFolder read(const std::string& folder, std::optional<Task> task = std::nullopt,
                               MatrixFormat dtype = MatrixFormat::f32);
};

}  // namespace clearformer
