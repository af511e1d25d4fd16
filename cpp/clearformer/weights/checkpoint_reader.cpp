#include "clearformer/weights/checkpoint_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

namespace clearformer {

namespace {

constexpr std::size_t kStagingBytes = 1 << 16;

// The dtype a stored tensor has in memory; nothing for types no layer reads (kept out of memory).
std::optional<DType> memory_dtype(std::string_view stored) {
  if (stored == "F32" || stored == "F16" || stored == "BF16") return DType::f32;
  if (stored == "I32") return DType::i32;
  if (stored == "I64") return DType::i64;
  if (stored == "U8" || stored == "BOOL") return DType::u8;
  return std::nullopt;
}

bool is_sixteen_bit_float(const StoredTensor& tensor) {
  return tensor.dtype == "F16" || tensor.dtype == "BF16";
}

}  // namespace

void CheckpointReader::begin_file(std::string name, std::uint64_t bytes) {
  if (stage_ != Stage::closed) {
    fail(ErrorCode::invalid_argument, "checkpoint: ", file_, " is still open");
  }
  file_ = std::move(name);
  file_bytes_ = bytes;
  if (bytes < SafetensorsHeader::kPrefixBytes) {
    fail(ErrorCode::malformed_file, file_, ": ", bytes,
         " bytes, too few for the 8 bytes of header length");
  }
  stage_ = Stage::prefix;
  buffer_.assign(SafetensorsHeader::kPrefixBytes, 0);
  filled_ = 0;
}

CheckpointReader::Window CheckpointReader::window() {
  switch (stage_) {
    case Stage::prefix:
    case Stage::header: return {buffer_.data() + filled_, buffer_.size() - filled_};
    case Stage::data: {
      if (is_sixteen_bit_float(stored())) {
        const std::size_t left = (tensor_.elements() - widened_) * 2 - filled_;
        return {buffer_.data() + filled_, std::min(kStagingBytes - filled_, left)};
      }
      const std::size_t size = tensor_.elements() * size_of(tensor_.dtype());
      return {static_cast<unsigned char*>(tensor_.data()) + filled_, size - filled_};
    }
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
  filled_ += bytes;
  if (stage_ == Stage::prefix && filled_ == buffer_.size()) {
    const std::uint64_t length =
        SafetensorsHeader::header_bytes(buffer_.data(), file_bytes_, file_);
    buffer_.assign(static_cast<std::size_t>(length), 0);
    filled_ = 0;
    stage_ = Stage::header;
  } else if (stage_ == Stage::header && filled_ == buffer_.size()) {
    header_complete();
  } else if (stage_ == Stage::data) {
    if (is_sixteen_bit_float(stored())) widen_staged();
    if (window().size == 0) tensor_complete();
  }
}

void CheckpointReader::header_complete() {
  const std::string_view json(reinterpret_cast<const char*>(buffer_.data()), buffer_.size());
  const std::uint64_t data_bytes = file_bytes_ - SafetensorsHeader::kPrefixBytes - buffer_.size();
  header_ = SafetensorsHeader::parse(json, data_bytes, file_);
  buffer_.assign(kStagingBytes, 0);
  index_ = 0;
  open_tensor();
}

// Makes room for the tensor at index_; empty tensors are complete at once.
void CheckpointReader::open_tensor() {
  while (index_ < header_.tensors.size()) {
    const auto dtype = memory_dtype(stored().dtype);
    if (!dtype) {
      fail(ErrorCode::unsupported, file_, ": tensor \"", stored().name, "\": dtype ",
           stored().dtype, " is not supported");
    }
    tensor_ = Weights::allocate(stored().native_shape(), *dtype);
    weight_bytes_ += tensor_.elements() * size_of(*dtype);
    filled_ = 0;
    widened_ = 0;
    if (tensor_.elements() != 0) {
      stage_ = Stage::data;
      return;
    }
    weights_.add(stored().name, file_, std::move(tensor_));
    ++index_;
  }
  stage_ = Stage::complete;
}

void CheckpointReader::tensor_complete() {
  weights_.add(stored().name, file_, std::move(tensor_));
  ++index_;
  open_tensor();
}

// Widens the whole elements of the staging buffer; an odd last byte waits for its other half.
void CheckpointReader::widen_staged() {
  const std::size_t count = filled_ / 2;
  float* target = tensor_.f32() + widened_;
  const bool half = stored().dtype == "F16";
  for (std::size_t element = 0; element < count; ++element) {
    std::uint16_t bits;
    std::memcpy(&bits, buffer_.data() + 2 * element, sizeof bits);
    target[element] = half ? float_from_f16(bits) : float_from_bf16(bits);
  }
  if (filled_ % 2 != 0) buffer_[0] = buffer_[filled_ - 1];
  filled_ %= 2;
  widened_ += count;
}

void CheckpointReader::end_file() {
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
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::fopen(path.c_str(), "rb"),
                                                              &std::fclose);
  if (!input) fail(ErrorCode::invalid_argument, "cannot open ", path);
  std::fseek(input.get(), 0, SEEK_END);
  const long bytes = std::ftell(input.get());
  std::fseek(input.get(), 0, SEEK_SET);
  begin_file(name, static_cast<std::uint64_t>(bytes));
  for (Window next = window(); next.size != 0; next = window()) {
    const std::size_t got = std::fread(next.data, 1, next.size, input.get());
    if (got == 0) break;
    commit(got);
  }
  end_file();
}

}  // namespace clearformer
