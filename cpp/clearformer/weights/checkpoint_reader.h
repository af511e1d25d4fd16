// CheckpointReader: parses safetensors files as their bytes stream in and writes each tensor to its final place, so
// that a checkpoint is never in memory twice. With a plan the weights of linear layers are quantised on the way, so
// that it is never in memory in fp32 either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clearformer/weights/incoming_tensor.h"

namespace clearformer {

/// A streaming parser of safetensors files.
class CheckpointReader {
 public:
  /// The buffer for the next bytes of the open file. Empty (size 0) when the file is complete.
  using Window = IncomingTensor::Window;

  CheckpointReader() = default;
  /// Matrices named by `plan` are kept in the formats it gives.
  explicit CheckpointReader(MatrixPlan plan) : plan_(std::move(plan)) {}
  /// Sets the index, which says which file each tensor is in; a header that contradicts it is rejected.
  void expect_places(ShardIndex index) { index_places_ = std::move(index); }

  /// Opens a file of `bytes` bytes in total; files are read one after another.
  void begin_file(std::string name, std::uint64_t bytes);
  Window window();
  /// The name of the open file.
  const std::string& file() const { return file_; }
  /// Reports that the first `bytes` bytes of the window have been filled.
  void commit(std::size_t bytes);
  /// Closes the file; throws malformed_file if bytes are missing.
  void end_file();

  /// All tensors read; shorter floats (16 and 8 bits) are widened to float32 unless the plan says otherwise. No file may be
  /// open.
  Weights finish();

  /// Bytes of the tensors completed so far.
  std::uint64_t weight_bytes() const { return weight_bytes_; }

  /// Reads whole files from disk (native builds and tests).
  void read_file(const std::string& path, const std::string& name);

 private:
  enum class Stage { closed, prefix, header, data, complete };

  void header_complete();
  void open_tensor();
  void tensor_complete();
  void keep_tensor();
  const StoredTensor& stored() const { return header_.tensors[index_]; }

  MatrixPlan plan_;
  ShardIndex index_places_;
  Weights weights_;
  std::uint64_t weight_bytes_ = 0;

  // The open file.
  Stage stage_ = Stage::closed;
  std::string file_;
  std::uint64_t file_bytes_ = 0;
  std::vector<unsigned char> buffer_;  // prefix or header
  std::size_t filled_ = 0;             // bytes of it filled
  SafetensorsHeader header_;
  std::size_t index_ = 0;  // tensor being read
  IncomingTensor incoming_;
  std::string unread_;        // why the tensor is skipped; empty: it is read
  std::uint64_t passed_ = 0;  // bytes of a skipped tensor still to come
};

}  // namespace clearformer
