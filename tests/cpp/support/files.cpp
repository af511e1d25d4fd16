#include "support/files.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace clearformer::test {

std::string fixture_path(const std::string& path) {
  return path.starts_with("/") ? path : std::string(CLEARFORMER_FIXTURES) + "/" + path;
}

std::string bundled_model(const std::string& name) {
  return std::string(CLEARFORMER_BUNDLED_MODELS) + "/" + name;
}

bool file_exists(const std::string& path) { return std::ifstream(path).good(); }

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace clearformer::test
