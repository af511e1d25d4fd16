// A second safetensors parser, written from the format's description and as simple as possible: the
// library's must accept the same files and find the same tensors in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer::fuzz {

struct NaiveTensor {
  std::string name, dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;
  std::string_view bytes;  // in the file
};

/// The tensors of a valid file in the order of their data; nullopt for an invalid one.
std::optional<std::vector<NaiveTensor>> read_naively(std::string_view file);

}  // namespace clearformer::fuzz
