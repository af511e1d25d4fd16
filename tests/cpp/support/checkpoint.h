// Loads a model from a Hugging Face folder, sharded or not.
#pragma once

#include <string>

#include "clearformer/models/model.h"

namespace clearformer::test {

Weights read_weights(const std::string& folder);

std::unique_ptr<Model> load_folder(const std::string& folder,
                                   const std::string& config = "config.json",
                                   std::optional<Task> task = std::nullopt);

/// The model stories260K bundled with the demo.
std::unique_ptr<Model> load_stories();
/// A checkpoint of tests/fixtures/llama_tiny.
std::unique_ptr<Model> load_tiny(const std::string& name,
                                 const std::string& config = "config.json");

}  // namespace clearformer::test
