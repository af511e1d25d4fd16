#include "support/files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace clearformer::test {
namespace {

/// The clone: the working directory or one above it. Found at run time, so that no program names a folder of this
/// machine and a cache of what was built serves every clone.
std::string find_project() {
  const std::filesystem::path from = std::filesystem::current_path();
  for (std::filesystem::path folder = from;; folder = folder.parent_path()) {
    if (std::filesystem::is_directory(folder / "tests/fixtures")) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  throw std::runtime_error("no tests/fixtures in " + from.string() +
                           " or above: run the tests inside the clone");
}

std::string in_project(const std::string& path) {
  static const std::string project = find_project();
  return project + "/" + path;
}

}  // namespace

std::string fixture_path(const std::string& path) {
  return path.starts_with("/") ? path : in_project("tests/fixtures/" + path);
}

std::string bundled_model(const std::string& name) {
  return in_project("web/demo/public/models/" + name);
}

bool file_exists(const std::string& path) { return std::ifstream(path).good(); }

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace clearformer::test
