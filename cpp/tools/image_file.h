// Images of bytes, from files without compression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clearformer::tools {

struct Image {
  std::size_t width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;  // row by row, the channels of a pixel side by side
};

/// A binary PGM or PPM (P5, P6; netpbm.sourceforge.net) with 255 as its largest value. Throws
/// malformed_file, or unsupported for the other kinds.
Image read_pnm(const std::string& path);
/// width·height·channels bytes and nothing else. Throws malformed_file when the file is of another size.
Image read_raw(const std::string& path, std::size_t width, std::size_t height,
               std::size_t channels);

}  // namespace clearformer::tools
