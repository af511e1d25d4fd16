// Files of native programs, opened for reading.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace clearformer {

using InputFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Null if it cannot be opened. Throws invalid_argument for a directory, std::bad_alloc if that takes more memory than
/// there is.
InputFile open_file(const std::string& path);

/// The size in bytes of a file at its start. Throws invalid_argument for what has none, such as a pipe.
std::uint64_t file_bytes(const InputFile& file, const std::string& path);

}  // namespace clearformer
