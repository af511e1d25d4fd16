// CheckpointReader: takes the bytes of safetensors files as they stream in and puts each tensor
// where it will stay, so that a checkpoint is never in memory twice. With a plan the weights of linear
// layers are rounded on the way, so that it is never in memory in fp32 either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clearformer/weights/incoming_tensor.h"

namespace clearformer {

/// Takes the bytes of safetensors files as they come, and puts each tensor where it stays.
class CheckpointReader {
 public:
  /// Where the next bytes of the open file go. Empty (size 0) when the file is complete.
  using Window = IncomingTensor::Window;

  CheckpointReader() = default;
  /// Matrices that `plan` names are kept in the formats it says.
  explicit CheckpointReader(MatrixPlan plan) : plan_(std::move(plan)) {}
  /// Which file the index says that each tensor is in; another one is refused when its header was read.
  void expect_places(ShardIndex index) { index_places_ = std::move(index); }

  /// Opens a file of `bytes` bytes in all; files come one after another.
  void begin_file(std::string name, std::uint64_t bytes);
  Window window();
  /// Says that the first `bytes` bytes of the window were filled.
  void commit(std::size_t bytes);
  /// Closes the file; throws malformed_file when bytes are missing.
  void end_file();

  /// All tensors read, float16 and bfloat16 widened to float32 where the plan has nothing else for
  /// them. No file may be open.
  Weights finish();

  /// Bytes that the complete tensors take.
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
  std::size_t filled_ = 0;             // bytes of it that are there
  SafetensorsHeader header_;
  std::size_t index_ = 0;  // tensor being read
  IncomingTensor incoming_;
  std::string unread_;        // why the tensor is passed over; empty: it is not
  std::uint64_t passed_ = 0;  // bytes of it that are still to come
};

}  // namespace clearformer
