// Files of the repository that tests read.
#pragma once

#include <string>

namespace clearformer::test {

/// tests/fixtures/<path>, or the path itself if it is absolute.
std::string fixture_path(const std::string& path);
/// The folder of a model bundled with the demo.
std::string bundled_model(const std::string& name);

bool file_exists(const std::string& path);
/// All bytes of a file; throws if it cannot be read.
std::string read_bytes(const std::string& path);

}  // namespace clearformer::test
