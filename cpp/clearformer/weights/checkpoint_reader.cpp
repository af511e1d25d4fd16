#include "clearformer/weights/checkpoint_reader.h"

#include <algorithm>

#include "clearformer/weights/input_file.h"

namespace clearformer {

namespace {
constexpr std::size_t kPassedAtOnce = 1 << 16;
}

void CheckpointReader::begin_file(std::string name, std::uint64_t bytes) {
  if (stage_ != Stage::closed) {
    fail(ErrorCode::invalid_argument, "checkpoint: ", file_, " is still open");
  }
  file_ = std::move(name);
  file_bytes_ = bytes;
  SafetensorsHeader::expect_prefix(bytes, file_);
  stage_ = Stage::prefix;
  buffer_.assign(SafetensorsHeader::kPrefixBytes, 0);
  filled_ = 0;
}

CheckpointReader::Window CheckpointReader::window() {
  switch (stage_) {
    case Stage::prefix:
    case Stage::header: return {buffer_.data() + filled_, buffer_.size() - filled_};
    case Stage::data:
      if (unread_.empty()) return incoming_.window();
      return {buffer_.data(),
              static_cast<std::size_t>(std::min<std::uint64_t>(passed_, buffer_.size()))};
    case Stage::closed:
    case Stage::complete: break;
  }
  return {};
}

void CheckpointReader::commit(std::size_t bytes) {
  if (bytes > window().size) {
    fail(ErrorCode::invalid_argument, "checkpoint: ", bytes, " bytes committed, the window holds ",
         window().size);
  }
  if (stage_ == Stage::data) {
    unread_.empty() ? incoming_.commit(bytes) : static_cast<void>(passed_ -= bytes);
    if (window().size == 0) tensor_complete();
    return;
  }
  filled_ += bytes;
  if (stage_ == Stage::prefix && filled_ == buffer_.size()) {
    const std::uint64_t length =
        SafetensorsHeader::header_bytes(buffer_.data(), file_bytes_, file_);
    buffer_.assign(static_cast<std::size_t>(length), 0);
    filled_ = 0;
    stage_ = Stage::header;
  } else if (stage_ == Stage::header && filled_ == buffer_.size()) {
    header_complete();
  }
}

void CheckpointReader::header_complete() {
  const std::string_view json(reinterpret_cast<const char*>(buffer_.data()), buffer_.size());
  const std::uint64_t data_bytes = file_bytes_ - SafetensorsHeader::kPrefixBytes - buffer_.size();
  header_ = SafetensorsHeader::parse(json, data_bytes, file_);
  IncomingTensor::expect_unscaled(header_, file_);
  for (const StoredTensor& tensor : header_.tensors) {
    index_places_.settle(tensor, file_);
    index_places_.check(tensor, file_);
  }
  buffer_ = {};
  index_ = 0;
  open_tensor();
}

// Allocates the tensor at index_; empty tensors are complete at once.
void CheckpointReader::open_tensor() {
  for (; index_ < header_.tensors.size(); ++index_) {
    unread_ = IncomingTensor::unreadable(stored());
    if (unread_.empty()) {
      incoming_ = IncomingTensor(stored(), *IncomingTensor::memory_dtype(stored().dtype),
                                 plan_.find(stored().name));
    } else {
      passed_ = stored().end - stored().begin;
      buffer_.resize(kPassedAtOnce);
    }
    stage_ = Stage::data;
    if (window().size != 0) return;
    keep_tensor();
  }
  stage_ = Stage::complete;
}

void CheckpointReader::tensor_complete() {
  keep_tensor();
  ++index_;
  open_tensor();
}

void CheckpointReader::keep_tensor() {
  StoredWeight weight;
  if (unread_.empty()) {
    weight = incoming_.finish();
    incoming_ = IncomingTensor();
  } else {
    weight.unread = std::move(unread_);
    buffer_ = {};
  }
  weight_bytes_ += weight.bytes();
  weights_.add(stored().name, file_, std::move(weight));
}

void CheckpointReader::end_file() {
  if (stage_ == Stage::closed) fail(ErrorCode::invalid_argument, "checkpoint: no file is open");
  if (stage_ != Stage::complete) {
    const char* where = stage_ == Stage::data ? "in its tensors" : "in its header";
    fail(ErrorCode::malformed_file, file_, ": the file ends early, ", where,
         stage_ == Stage::data ? concat(" (\"", stored().name, "\")") : std::string());
  }
  stage_ = Stage::closed;
}

Weights CheckpointReader::finish() {
  if (stage_ != Stage::closed) {
    fail(ErrorCode::invalid_argument, "checkpoint: ", file_, " is still open");
  }
  return std::move(weights_);
}

void CheckpointReader::read_file(const std::string& path, const std::string& name) {
  const InputFile input = open_file(path);
  if (!input) fail(ErrorCode::invalid_argument, "cannot open ", path);
  begin_file(name, file_bytes(input, path));
  for (Window next = window(); next.size != 0; next = window()) {
    const std::size_t got = std::fread(next.data, 1, next.size, input.get());
    if (got == 0) break;
    commit(got);
  }
  end_file();
}

}  // namespace clearformer
