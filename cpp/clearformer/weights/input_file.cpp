#include "clearformer/weights/input_file.h"

#include <cerrno>
#include <new>

#include "clearformer/tensor/error.h"

namespace clearformer {

InputFile open_file(const std::string& path) {
  errno = 0;
  InputFile file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file && errno == ENOMEM) throw std::bad_alloc();
  if (!file || std::fseek(file.get(), 0, SEEK_CUR) != 0)
    return file;  // a pipe may wait for its first byte
  errno = 0;
  const int first = std::getc(file.get());  // a directory opens, but cannot be read
  if (first != EOF) std::ungetc(first, file.get());
  if (errno == EISDIR) fail(ErrorCode::invalid_argument, path, " is a directory, not a file");
  return file;
}

std::uint64_t file_bytes(const InputFile& file, const std::string& path) {
  long bytes = -1;
  if (std::fseek(file.get(), 0, SEEK_END) == 0) bytes = std::ftell(file.get());
  if (bytes < 0 || std::fseek(file.get(), 0, SEEK_SET) != 0) {
    fail(ErrorCode::invalid_argument, path, " has no size: it is no regular file");
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace clearformer
