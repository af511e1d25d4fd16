#include "support/checkpoint.h"

#include "clearformer/weights/checkpoint_reader.h"
#include "support/files.h"

namespace clearformer::test {

Weights read_weights(const std::string& folder) {
  const std::string index = "model.safetensors.index.json";
  std::vector<std::string> files = {"model.safetensors"};
  if (file_exists(folder + "/" + index)) {
    files = ShardIndex::parse(read_bytes(folder + "/" + index), index).files;
  }
  CheckpointReader reader;
  for (const std::string& file : files) reader.read_file(folder + "/" + file, file);
  return reader.finish();
}

DecoderOnlyModel load_model(const std::string& folder, const std::string& config) {
  return DecoderOnlyModel::load(read_weights(folder), read_bytes(folder + "/" + config), config);
}

DecoderOnlyModel load_stories() { return load_model(bundled_model("stories260K")); }

DecoderOnlyModel load_tiny(const std::string& name, const std::string& config) {
  return load_model(fixture_path("llama_tiny/" + name), config);
}

}  // namespace clearformer::test
