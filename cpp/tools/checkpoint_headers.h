// CheckpointHeaders: what the safetensors files of a folder hold, without reading their data; and every
// problem on the way.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clearformer/weights/safetensors.h"

namespace clearformer::tools {

struct CheckpointHeaders {
  struct Entry {
    std::string file;
    StoredTensor tensor;
    std::uint64_t data = 0;  // where the file's data section begins
  };

  /// Reads model.safetensors, or the shards that model.safetensors.index.json names. Throws nothing:
  /// files that are missing or broken are among the problems.
  static CheckpointHeaders read(const std::string& folder);

  std::uint64_t parameters() const;
  /// Bytes on disk by dtype.
  std::map<std::string, std::uint64_t> bytes() const;

  std::vector<std::string> files;  // that could be read
  std::vector<Entry> tensors;      // file by file, in the order of their data
  std::vector<std::string> problems;

 private:
  void read_file(const std::string& folder, const std::string& file);
  void compare_with(const ShardIndex& index);
};

/// "[2, 3]"
std::string shape_text(const std::vector<std::uint64_t>& shape);
std::uint64_t elements_of(const StoredTensor& tensor);

}  // namespace clearformer::tools
