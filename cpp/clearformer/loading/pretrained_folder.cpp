#include "clearformer/loading/pretrained_folder.h"

#include <utility>

#include "clearformer/tensor/typed_memory.h"
#include "clearformer/weights/checkpoint_reader.h"
#include "clearformer/weights/input_file.h"

namespace clearformer {

std::optional<std::string> file_text(const std::string& path) {
  const InputFile input = open_file(path);
  if (!input) return std::nullopt;
  std::string text;
  char buffer[1 << 14];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, input.get())) != 0;) {
    text.append(buffer, got);
  }
  return text;
}

std::string path_in(const std::string& folder, std::string_view name) {
  if (!folder.empty()) return concat(folder, "/", name);
  fail(ErrorCode::invalid_argument, "cannot open ", name, ": the folder's name is empty");
}

std::optional<std::string> shard_index_text(const std::string& folder) {
  if (open_file(path_in(folder, "model.safetensors"))) return std::nullopt;
  if (auto index = file_text(path_in(folder, "model.safetensors.index.json"))) return index;
  const std::pair<const char*, const char*> formats[] = {
      {"pytorch_model.bin", "save the model with transformers' save_pretrained"},
      {"pytorch_model.bin.index.json", "save the model with transformers' save_pretrained"},
      {"onnx/model.onnx", "load the checkpoint that it was made from"},
      {"model.onnx", "load the checkpoint that it was made from"}};
  for (const auto& [name, remedy] : formats) {
    const std::string path = path_in(folder, name);
    if (!open_file(path)) continue;
    fail(ErrorCode::unsupported, path, " is not read, only safetensors: ", remedy);
  }
  return std::nullopt;
}

namespace {

PretrainedFolder opened(const std::string& folder, const PretrainedFolder::PlanOf& plan_of) {
  PretrainedFolder checkpoint;
  const std::string path = path_in(folder, "config.json");
  auto config = file_text(path);
  if (!config) fail(ErrorCode::invalid_argument, "cannot open ", path);
  checkpoint.config = std::move(*config);
  checkpoint.generation_config =
      file_text(path_in(folder, "generation_config.json")).value_or("{}");
  CheckpointReader reader(plan_of ? plan_of(checkpoint.config) : MatrixPlan());
  if (const auto index = shard_index_text(folder)) {
    ShardIndex places = ShardIndex::parse(*index, "model.safetensors.index.json");
    const std::vector<std::string> files = places.files;
    reader.expect_places(std::move(places));
    for (const std::string& file : files) reader.read_file(path_in(folder, file), file);
  } else {
    reader.read_file(path_in(folder, "model.safetensors"), "model.safetensors");
  }
  checkpoint.weights = reader.finish();
  return checkpoint;
}

}  // namespace

PretrainedFolder PretrainedFolder::read(const std::string& folder, const PlanOf& plan_of) {
  return typed_memory([&] { return opened(folder, plan_of); });
}

}  // namespace clearformer
