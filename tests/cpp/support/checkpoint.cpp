#include "support/checkpoint.h"

#include "clearformer/models/pretrained_folder.h"
#include "support/files.h"

namespace clearformer::test {

Weights read_weights(const std::string& folder) { return PretrainedFolder::read(folder).weights; }

DecoderOnlyModel load_model(const std::string& folder, const std::string& config) {
  return DecoderOnlyModel::load(read_weights(folder), read_bytes(folder + "/" + config), config);
}

DecoderOnlyModel load_stories() { return load_model(bundled_model("stories260K")); }

DecoderOnlyModel load_tiny(const std::string& name, const std::string& config) {
  return load_model(fixture_path("llama_tiny/" + name), config);
}

}  // namespace clearformer::test
