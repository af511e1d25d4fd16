#include "tools/image_file.h"

#include <algorithm>
#include <string_view>

#include "clearformer/tensor/error.h"
#include "tools/files.h"

namespace clearformer::tools {

namespace {

// The header of a PNM file: numbers between spaces and comments.
class PnmHeader {
 public:
  PnmHeader(const std::string& bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  std::size_t number() {
    skip_space();
    std::size_t value = 0, digits = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9' && digits < 9;
         ++digits) {
      value = value * 10 + static_cast<std::size_t>(bytes_[at_++] - '0');
    }
    if (digits == 0) fail(ErrorCode::malformed_file, path_, ": its header lacks a number");
    return value;
  }
  /// Where the pixels begin: behind one space.
  std::size_t end() const { return at_ + 1; }

 private:
  void skip_space() {
    while (at_ < bytes_.size()) {
      const char next = bytes_[at_];
      if (next == '#') {
        at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      } else if (next == ' ' || next == '\n' || next == '\t' || next == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  const std::string& bytes_;
  std::string path_;
  std::size_t at_ = 2;
};

Image image_of(const std::string& path, std::string_view bytes, const Image& size) {
  Image image{size.width, size.height, size.channels, {bytes.begin(), bytes.end()}};
  std::size_t expected = 0;
  const bool overflows = __builtin_mul_overflow(size.width, size.height, &expected) ||
                         __builtin_mul_overflow(expected, size.channels, &expected);
  if (overflows || expected == 0 || bytes.size() != expected) {
    fail(ErrorCode::malformed_file, path, ": ", bytes.size(), " bytes of pixels, expected ",
         size.height, " x ", size.width, " x ", size.channels);
  }
  return image;
}

}  // namespace

Image read_pnm(const std::string& path) {
  const std::string bytes = require_text(path);
  const std::string kind = bytes.substr(0, 2);
  if (kind != "P5" && kind != "P6") {
    fail(ErrorCode::unsupported, path,
         ": not a binary PGM or PPM (P5, P6), which are the image files this reads");
  }
  PnmHeader header(bytes, path);
  const std::size_t width = header.number(), height = header.number();
  if (header.number() != 255) {
    fail(ErrorCode::unsupported, path, ": its largest value is not 255");
  }
  const std::size_t begin = std::min(header.end(), bytes.size());
  return image_of(path, std::string_view(bytes).substr(begin),
                  {width, height, kind == "P5" ? std::size_t{1} : std::size_t{3}, {}});
}

Image read_raw(const std::string& path, std::size_t width, std::size_t height,
               std::size_t channels) {
  return image_of(path, require_text(path), {width, height, channels, {}});
}

}  // namespace clearformer::tools
