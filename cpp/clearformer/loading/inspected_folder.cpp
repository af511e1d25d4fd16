#include "clearformer/loading/inspection.h"
#include "clearformer/loading/pretrained_folder.h"
#include "clearformer/tensor/typed_memory.h"
#include "clearformer/weights/input_file.h"

namespace clearformer {

namespace {

InspectedFolder::File start_of(const std::string& folder, const std::string& name) {
  InspectedFolder::File file{name, 0, {}};
  const std::string path = path_in(folder, name);
  const InputFile input = open_file(path);
  if (!input) fail(ErrorCode::invalid_argument, "cannot open ", path);
  file.bytes = file_bytes(input, path);
  const auto read = [&](std::uint64_t bytes) {
    const std::size_t had = file.start.size();
    file.start.resize(had + static_cast<std::size_t>(bytes));
    file.start.resize(had +
                      std::fread(file.start.data() + had, 1, file.start.size() - had, input.get()));
  };
  read(SafetensorsHeader::kPrefixBytes);
  try {
    SafetensorsHeader::expect_prefix(file.start.size(), name);
    read(SafetensorsHeader::header_bytes(reinterpret_cast<const unsigned char*>(file.start.data()),
                                         file.bytes, name));
  } catch (const Error&) {
    // reported when the header is parsed
  }
  return file;
}

InspectedFolder found_in(const std::string& folder) {
  InspectedFolder found;
  found.problems.collect("config.json", [&] {
    const std::string path = path_in(folder, "config.json");
    found.config = file_text(path);
    if (!found.config) fail(ErrorCode::invalid_argument, "cannot open ", path);
  });
  std::vector<std::string> names;
  found.problems.collect("model.safetensors", [&] {
    found.index = shard_index_text(folder);
    names = {"model.safetensors"};
  });
  try {
    if (found.index) names = ShardIndex::parse(*found.index, "model.safetensors.index.json").files;
  } catch (const Error&) {
    names.clear();  // inspect() reports the reason
  }
  for (const std::string& name : names) {
    found.problems.collect(name, [&] { found.files.push_back(start_of(folder, name)); });
  }
  return found;
}

}  // namespace

InspectedFolder InspectedFolder::read(const std::string& folder) {
  return typed_memory([&] { return found_in(folder); });
}

}  // namespace clearformer
