// Safetensors files made in memory, valid or invalid, and a reader fed with chunks of any size.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clearformer/weights/checkpoint_reader.h"

namespace clearformer::test {

/// The 8 length bytes, the header, the data.
std::string safetensors(std::string_view header, std::string_view data = "");
/// Only the 8 bytes, which claim a header of `length` bytes.
std::string length_prefix(std::uint64_t length);

/// The bytes of values as stored in a file.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Feeds `bytes` to the reader, at most `chunk` at a time, as one file of `claimed` bytes in total
/// (npos: the actual number).
void feed(CheckpointReader& reader, const std::string& name, std::string_view bytes,
          std::size_t chunk = std::string_view::npos, std::uint64_t claimed = ~std::uint64_t{0});

/// Reads a single file named "model.safetensors".
Weights read_safetensors(std::string_view bytes, std::size_t chunk = std::string_view::npos);

/// Takes a tensor under its stored name.
Tensor take(Weights& weights, const std::string& name, const Shape& shape);

}  // namespace clearformer::test
