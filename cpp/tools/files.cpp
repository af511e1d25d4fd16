#include "tools/files.h"

#include <fstream>
#include <iterator>

#include "clearformer/tensor/error.h"

namespace clearformer::tools {

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

std::string require_text(const std::string& path) {
  auto text = read_text(path);
  if (!text) fail(ErrorCode::invalid_argument, "cannot open ", path);
  return std::move(*text);
}

}  // namespace clearformer::tools
