// Target: a model.safetensors.index.json. It is rejected, or lists files in the folder, each once, and accepts every
// tensor from its own file only.
#include <set>

#include "clearformer/tensor/error.h"
#include "clearformer/weights/safetensors.h"
#include "support/files.h"
#include "targets.h"

namespace clearformer::fuzz {

namespace {

bool takes(const ShardIndex& index, const StoredTensor& tensor, const std::string& file) {
  try {
    index.check(tensor, file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void run_index(std::string_view bytes) {
  try {
    const ShardIndex index = ShardIndex::parse(bytes, "index");
    const std::set<std::string> files(index.files.begin(), index.files.end());
    promise(!files.empty() && files.size() == index.files.size(), "a file is named twice, or none");
    for (const std::string& file : files) {
      promise(!file.empty() && file != "." && file != "..", "a name that is no file's");
      promise(file.find_first_of(std::string_view("/\\\0", 3)) == file.npos, "a file elsewhere");
    }
    std::set<std::string> used;
    StoredTensor stored;
    for (const auto& [tensor, file] : index.file_of_tensor) {
      stored.name = tensor;
      promise(takes(index, stored, file), "a tensor is refused where the index says it is");
      promise(!takes(index, stored, file + "/"), "a tensor is taken from anywhere");
      used.insert(file);
    }
    promise(used == files, "the files are not those of the tensors");
  } catch (const Error& error) {
    promise(error.code() == ErrorCode::malformed_file, "an index is refused with another code");
  }
}

std::vector<std::string> index_seeds() {
  return {
      R"({"metadata": {"total_size": 12}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})",
      R"({"weight_map":{"\u00e9":"x-00001-of-00002.safetensors","":"x-00001-of-00002.safetensors"}})",
      test::read_bytes(test::fixture_path("llama_tiny/sharded/model.safetensors.index.json"))};
}

}  // namespace clearformer::fuzz
