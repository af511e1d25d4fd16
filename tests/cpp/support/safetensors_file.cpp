#include "support/safetensors_file.h"

#include <algorithm>
#include <cstring>

namespace clearformer::test {

std::string length_prefix(std::uint64_t length) {
  std::string prefix;
  for (int byte = 0; byte < 8; ++byte) prefix += static_cast<char>(length >> (8 * byte) & 0xff);
  return prefix;
}

std::string safetensors(std::string_view header, std::string_view data) {
  return concat(length_prefix(header.size()), header, data);
}

void feed(CheckpointReader& reader, const std::string& name, std::string_view bytes,
          std::size_t chunk, std::uint64_t claimed) {
  reader.begin_file(name, claimed == ~std::uint64_t{0} ? bytes.size() : claimed);
  while (!bytes.empty()) {
    const CheckpointReader::Window window = reader.window();
    if (window.size == 0) break;
    const std::size_t count = std::min({chunk, window.size, bytes.size()});
    std::memcpy(window.data, bytes.data(), count);
    reader.commit(count);
    bytes.remove_prefix(count);
  }
  reader.end_file();
}

Weights read_safetensors(std::string_view bytes, std::size_t chunk) {
  CheckpointReader reader;
  feed(reader, "model.safetensors", bytes, chunk);
  return reader.finish();
}

Tensor take(Weights& weights, const std::string& name, const Shape& shape) {
  Tensor tensor = weights.take({name}, shape);
  weights.check(Weights::Unexpected::keep);
  return tensor;
}

}  // namespace clearformer::test
