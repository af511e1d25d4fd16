#include "support/checkpoint.h"

#include "clearformer/loading/load_model.h"
#include "clearformer/loading/pretrained_folder.h"
#include "support/files.h"

namespace clearformer::test {

Weights read_weights(const std::string& folder) { return PretrainedFolder::read(folder).weights; }

std::unique_ptr<Model> load_folder(const std::string& folder, const std::string& config,
                                   std::optional<Task> task) {
  return load_model(read_weights(folder), read_bytes(folder + "/" + config), task, config);
}

std::unique_ptr<Model> load_stories() { return load_folder(bundled_model("stories260K")); }

std::unique_ptr<Model> load_tiny(const std::string& name, const std::string& config) {
  return load_folder(fixture_path("llama_tiny/" + name), config);
}

}  // namespace clearformer::test
