// Files that the command line reads.
#pragma once

#include <optional>
#include <string>

namespace clearformer::tools {

/// All bytes of a file; nothing when it cannot be opened.
std::optional<std::string> read_text(const std::string& path);

/// The same; throws invalid_argument naming the file that cannot be opened.
std::string require_text(const std::string& path);

}  // namespace clearformer::tools
