#include "tools/checkpoint_headers.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "tools/files.h"

namespace clearformer::tools {

namespace {

constexpr const char* kIndex = "model.safetensors.index.json";

// The header and where the data begins.
std::pair<SafetensorsHeader, std::uint64_t> read_header(const std::string& path,
                                                        const std::string& file) {
  std::ifstream input(path, std::ios::binary);
  std::error_code failed;
  const std::uint64_t size = std::filesystem::file_size(path, failed);
  if (!input || failed) fail(ErrorCode::invalid_argument, "cannot open ", path);
  if (size < SafetensorsHeader::kPrefixBytes) {
    fail(ErrorCode::malformed_file, file, ": ", size,
         " bytes, too few for the 8 bytes of header length");
  }
  unsigned char prefix[SafetensorsHeader::kPrefixBytes] = {};
  input.read(reinterpret_cast<char*>(prefix), sizeof prefix);
  const std::uint64_t length = SafetensorsHeader::header_bytes(prefix, size, file);
  std::string json(static_cast<std::size_t>(length), '\0');
  input.read(json.data(), static_cast<std::streamsize>(length));
  if (!input) fail(ErrorCode::malformed_file, file, ": cannot be read to the end of its header");
  const std::uint64_t data = SafetensorsHeader::kPrefixBytes + length;
  return {SafetensorsHeader::parse(json, size - data, file), data};
}

}  // namespace

CheckpointHeaders CheckpointHeaders::read(const std::string& folder) {
  CheckpointHeaders headers;
  const auto text = read_text(folder + "/" + kIndex);
  if (!text) {
    headers.read_file(folder, "model.safetensors");
    return headers;
  }
  try {
    const ShardIndex index = ShardIndex::parse(*text, kIndex);
    for (const std::string& file : index.files) headers.read_file(folder, file);
    headers.compare_with(index);
  } catch (const Error& error) {
    headers.problems.push_back(error.what());
  }
  return headers;
}

void CheckpointHeaders::read_file(const std::string& folder, const std::string& file) {
  try {
    auto [header, data] = read_header(folder + "/" + file, file);
    files.push_back(file);
    for (StoredTensor& tensor : header.tensors) tensors.push_back({file, std::move(tensor), data});
  } catch (const Error& error) {
    problems.push_back(error.what());
  }
}

void CheckpointHeaders::compare_with(const ShardIndex& index) {
  std::map<std::string, std::string> found;
  const std::set<std::string> readable(files.begin(), files.end());
  for (const Entry& entry : tensors) {
    if (!found.emplace(entry.tensor.name, entry.file).second) {
      problems.push_back(concat(entry.file, ": tensor \"", entry.tensor.name, "\" is also in ",
                                found[entry.tensor.name]));
    }
  }
  std::set<std::string> named;
  for (const auto& [tensor, file] : index.file_of_tensor) {
    named.insert(tensor);
    const auto place = found.find(tensor);
    if (readable.count(file) != 0 && (place == found.end() || place->second != file)) {
      problems.push_back(concat(kIndex, ": tensor \"", tensor, "\" is not in ", file));
    }
  }
  for (const auto& [tensor, file] : found) {
    if (named.count(tensor) == 0) {
      problems.push_back(concat(kIndex, " lacks tensor \"", tensor, "\" of ", file));
    }
  }
}

std::uint64_t elements_of(const StoredTensor& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : tensor.shape) count *= extent;
  return count;
}

std::uint64_t CheckpointHeaders::parameters() const {
  std::uint64_t count = 0;
  for (const Entry& entry : tensors) count += elements_of(entry.tensor);
  return count;
}

std::map<std::string, std::uint64_t> CheckpointHeaders::bytes() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const Entry& entry : tensors)
    bytes[entry.tensor.dtype] += entry.tensor.end - entry.tensor.begin;
  return bytes;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + "]";
}

}  // namespace clearformer::tools
