// The safetensors header: its length in 8 bytes (little endian), then JSON that gives every tensor's
// dtype, shape and byte range. Every rule of the format is checked before a byte of data is read.
// Source: github.com/huggingface/safetensors, "Format".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clearformer/tensor/shape.h"

namespace clearformer {

/// One tensor of the header. `shape` and offsets are 64 bits wide on every machine.
struct StoredTensor {
  std::string name;
  std::string dtype;  // as in the file: "F32", "BF16", "I64", …
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // bytes from the start of the data section
  std::uint64_t end = 0;

  /// The shape in this machine's size_t; throws out_of_memory if it does not fit.
  Shape native_shape() const;
};

/// The header of a safetensors file: its tensors and its metadata.
struct SafetensorsHeader {
  static constexpr std::uint64_t kPrefixBytes = 8;
  static constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

  /// Checks the 8 length bytes against the file's size; returns the header's length in bytes.
  static std::uint64_t header_bytes(const unsigned char* prefix, std::uint64_t file_bytes,
                                    std::string_view file);

  /// Runs the checks of a header's entries one by one, and may keep what one throws.
  struct Attempts {
    void* context;
    bool (*run)(void* context, void (*check)(void*), void* of);  // false: that was enough
  };

  /// Parses and checks the header; `data_bytes` is the size of the data section after it.
  /// Throws malformed_file with the file, the tensor and the broken rule. If `attempts` keep errors, entries after a
  /// broken one are checked, too, and the result is of no use.
  static SafetensorsHeader parse(std::string_view json, std::uint64_t data_bytes,
                                 std::string_view file, const Attempts& attempts = kDirect);

  /// Throws malformed_file for a file too short to hold the header's length.
  static void expect_prefix(std::uint64_t file_bytes, std::string_view file);
  /// Both at once: `start` holds the beginning of the file, at least to the end of the header.
  static SafetensorsHeader read(std::string_view start, std::uint64_t file_bytes,
                                std::string_view file, const Attempts& attempts = kDirect);

  /// Bits per element of a dtype; nullopt for one that the format did not have when this was written: tensors of such
  /// dtypes are passed over.
  static std::optional<std::uint64_t> bits_of(std::string_view dtype);

  static const Attempts kDirect;  // errors are thrown

  std::vector<StoredTensor> tensors;  // in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// model.safetensors.index.json parsed: which files hold the tensors.
struct ShardIndex {
  static ShardIndex parse(std::string_view json, std::string_view file);

  /// Forgets a tensor that is in the file the index places it in: in another file as well, it is a duplicate.
  void settle(const StoredTensor& tensor, std::string_view file);
  /// Throws malformed_file for a tensor of `file` that the index places in another file.
  void check(const StoredTensor& tensor, std::string_view file) const;

  std::string name;                // of the index file
  std::vector<std::string> files;  // each once, in order of first mention
  std::map<std::string, std::string, std::less<>> file_of_tensor;
  std::uint64_t total_size = 0;  // as stated in the index; 0 if it is not
};

}  // namespace clearformer
