#include "clearformer/weights/incoming_tensor.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/transpose.h"

namespace clearformer {

namespace {

constexpr std::size_t kStagingBytes = 1 << 16;
constexpr std::size_t kColumnsAtOnce = 16;  // a cache line of each stored row
constexpr std::size_t kTurnedRows = 64;     // some cache lines of each output

}  // namespace

std::string IncomingTensor::unreadable(const StoredTensor& stored) {
  if (!SafetensorsHeader::bits_of(stored.dtype)) {
    return concat("unknown dtype \"", stored.dtype, "\"");
  }
  if (!memory_dtype(stored.dtype)) {
    const bool of_mlx = stored.dtype == "U32";
    return concat("dtype ", stored.dtype, " is not supported",
                  of_mlx ? " (as quantised by MLX: load the checkpoint it was made from)" : "");
  }
  if (stored.shape.size() > Shape::kMaxRank) {
    return concat("more than ", Shape::kMaxRank, " dimensions are not supported");
  }
  return {};
}

void IncomingTensor::expect_unscaled(const SafetensorsHeader& header, std::string_view file) {
  bool short_floats = false;
  const std::string* scale = nullptr;
  for (const auto& [name, dtype, shape, begin, end] : header.tensors) {
    short_floats |= dtype.starts_with("F8_E");
    for (const char* part : {"weight_scale", "scale_weight"}) {
      if (name.find(part) != std::string::npos) scale = &name;
    }
  }
  if (!short_floats || scale == nullptr) return;
  fail(ErrorCode::unsupported, file, ": scaled 8-bit weights are not supported: ", *scale);
}

std::optional<DType> IncomingTensor::memory_dtype(std::string_view stored) {
  for (const char* floats : {"F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"}) {
    if (stored == floats) return DType::f32;
  }
  if (stored == "I32") return DType::i32;
  if (stored == "I64") return DType::i64;
  if (stored == "U8" || stored == "BOOL") return DType::u8;
  return std::nullopt;
}

IncomingTensor::IncomingTensor(const StoredTensor& stored, DType dtype,
                               const MatrixPlan::Entry* planned)
    : shape_(stored.native_shape()) {
  if (stored.dtype == "F16") encoding_ = Encoding::f16;
  if (stored.dtype == "BF16") encoding_ = Encoding::bf16;
  if (stored.dtype == "F8_E4M3") encoding_ = Encoding::e4m3;
  if (stored.dtype == "F8_E5M2") encoding_ = Encoding::e5m2;
  if (encoding_ == Encoding::e4m3 || encoding_ == Encoding::e5m2) width_ = 1;
  const std::size_t elements = shape_.elements();
  const bool stacked = shape_.rank() == 3 && planned != nullptr && planned->stacked;
  rows_ = stacked ? Shape{shape_.outer(1), shape_[2]} : shape_;
  if (planned != nullptr && rows_.rank() == 2 && elements != 0 && dtype == DType::f32) {
    planned_ = *planned;
  }
  const bool turned = planned_.layout == Layout::in_out,
             floats = planned_.format == MatrixFormat::f32;
  if (turned && floats) {
    matrix_ = Matrix(planned_.format, rows_[1], rows_[0]);
    strip_ = Tensor({std::min(kTurnedRows, rows_[0]), rows_[1]});
  } else if (!turned && !floats) {
    const std::size_t row = rows_[1];
    const std::size_t rows = std::max<std::size_t>(1, kStagingBytes / sizeof(float) / row);
    matrix_ = Matrix(planned_.format, rows_[0], row);
    strip_ = Tensor({std::min(rows, rows_[0]), row});
  } else {
    strip_ = Weights::allocate(shape_, dtype);
  }
  if (encoding_ != Encoding::as_it_is) staged_.resize(std::min(kStagingBytes, elements * width_));
  left_ = elements;
  next_strip();
}

IncomingTensor::Window IncomingTensor::window() {
  if (encoding_ != Encoding::as_it_is) {
    const std::size_t bytes = (strip_elements_ - widened_) * width_ - filled_;
    return {staged_.data() + filled_, std::min(staged_.size() - filled_, bytes)};
  }
  const std::size_t bytes = strip_elements_ * size_of(strip_.dtype());
  return {static_cast<unsigned char*>(strip_.data()) + filled_, bytes - filled_};
}

void IncomingTensor::commit(std::size_t bytes) {
  filled_ += bytes;
  if (encoding_ != Encoding::as_it_is) widen_staged();
  if (window().size == 0) strip_complete();
}

// Widens the complete elements of the staging buffer; an odd trailing byte waits for the other half of its element.
void IncomingTensor::widen_staged() {
  const std::size_t count = filled_ / width_;
  float* target = strip_.f32() + widened_;
  for (std::size_t element = 0; element < count; ++element) {
    target[element] = widened(staged_.data() + width_ * element);
  }
  if (filled_ % width_ != 0) staged_[0] = staged_[filled_ - 1];
  filled_ %= width_;
  widened_ += count;
}

float IncomingTensor::widened(const unsigned char* element) const {
  if (encoding_ == Encoding::e4m3) return float_from_e4m3(*element);
  if (encoding_ == Encoding::e5m2) return float_from_e5m2(*element);
  std::uint16_t bits;
  std::memcpy(&bits, element, sizeof bits);
  return encoding_ == Encoding::f16 ? float_from_f16(bits) : float_from_bf16(bits);
}

void IncomingTensor::strip_complete() {
  if (matrix_.empty()) return;
  const std::size_t row = rows_[1], rows = strip_elements_ / row;
  const std::size_t first = rows_[0] - left_ / row - rows;
  if (planned_.layout == Layout::in_out) {
    const std::size_t inputs = rows_[0];
    kernels::transpose(strip_.f32(), row, rows, row, matrix_.values().f32() + first, inputs);
  } else {
    for (std::size_t i = 0; i < rows; ++i) round_row(first + i, strip_.f32() + i * row);
  }
  if (left_ != 0) next_strip();
}

void IncomingTensor::next_strip() {
  strip_elements_ = std::min(left_, strip_.elements());
  left_ -= strip_elements_;
  filled_ = widened_ = 0;
}

// If the format cannot represent a row, the rows before it keep their rounded values.
void IncomingTensor::round_row(std::size_t output, const float* row) {
  if (!matrix_.holds(row)) matrix_ = matrix_.widened();
  matrix_.set_row(output, row);
}

// Transposes (in, out) to rows of outputs, which are rounded some columns at a time.
void IncomingTensor::round_turned() {
  const std::size_t inputs = rows_[0], outputs = rows_[1];
  matrix_ = Matrix(planned_.format, outputs, inputs);
  std::vector<float> rows(kColumnsAtOnce * inputs);
  for (std::size_t first = 0; first < outputs; first += kColumnsAtOnce) {
    const std::size_t count = std::min(kColumnsAtOnce, outputs - first);
    kernels::transpose(strip_.f32() + first, outputs, inputs, count, rows.data(), inputs);
    for (std::size_t i = 0; i < count; ++i) round_row(first + i, rows.data() + i * inputs);
  }
}

StoredWeight IncomingTensor::finish() {
  if (planned_.layout == Layout::in_out && matrix_.empty()) round_turned();
  if (matrix_.empty()) return {shape_, std::move(strip_), {}, {}};
  return {shape_, {}, std::move(matrix_), {}};
}

}  // namespace clearformer
