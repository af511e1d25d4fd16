#include "clearformer/tensor/matrix.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/rounding.h"

namespace clearformer {

namespace {

constexpr std::size_t kRowMultiple = 32;  // an upper bound of a panel's columns
constexpr float kLargestF16 = 65504.0f;
constexpr float kLargestRotated = 1e37f;  // 64 of them may be added

// Elements of `values` per row. Throws out_of_memory if they do not fit size_t.
std::size_t row_elements(MatrixFormat format, std::size_t inputs) {
  if (!is_quantized(format)) return inputs;
  return Shape{blocks_of(inputs), format == MatrixFormat::q4 ? kBlock / 2 : kBlock}.elements();
}

// Bytes that a panel holds for each output and block beside the integers: the scale, for eight bits also a sum.
std::size_t block_extra(MatrixFormat format) {
  return !is_quantized(format) ? 0 : format == MatrixFormat::q4 ? 2 : 4;
}

const float* expect_rows(const TensorView& rows) {
  if (rows.shape().rank() == 2) return rows.f32();
  fail(ErrorCode::shape_mismatch, "matrix: rows of shape ", rows.shape().text(),
       ", expected two axes");
}

DType dtype_of(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::f32: return DType::f32;
    case MatrixFormat::f16: return DType::f16;
    default: return DType::u8;
  }
}

}  // namespace

std::optional<MatrixFormat> matrix_format_named(std::string_view name) {
  for (const MatrixFormat format :
       {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8, MatrixFormat::q4}) {
    if (to_string(format) == name) return format;
  }
  return std::nullopt;
}

MatrixFormat expect_matrix_format(std::string_view name) {
  if (const auto format = matrix_format_named(name)) return *format;
  fail(ErrorCode::unsupported, "dtype \"", name,
       "\" is not supported; supported: fp32, fp16, q8, q4");
}

std::string_view to_string(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::f32: return "fp32";
    case MatrixFormat::f16: return "fp16";
    case MatrixFormat::q8_fine:
    case MatrixFormat::q8: return "q8";
    case MatrixFormat::q4: return "q4";
  }
  return "unknown";
}

Matrix::Matrix(Tensor rows) {
  if (rows.empty()) return;
  expect_rows(rows);
  outputs_ = rows.dim(0);
  inputs_ = rows.dim(1);
  values_ = std::move(rows);
}

Matrix::Matrix(MatrixFormat format, std::size_t outputs, std::size_t inputs)
    : format_(format), outputs_(outputs), inputs_(inputs) {
  const std::size_t elements = row_elements(format, inputs);
  const std::size_t added = (kRowMultiple - outputs % kRowMultiple) % kRowMultiple;
  const std::uint64_t bytes_beside =
      bounded_product(blocks_of(inputs), block_extra(format));  // the integers, of each output
  const std::uint64_t spare = bounded_sum(
      bounded_product(added, elements), bounded_product(bounded_sum(outputs, added), bytes_beside));
  // What was bounded is too large for a tensor as well.
  values_ = Tensor({outputs, elements}, dtype_of(format),
                   static_cast<std::size_t>(std::min<std::uint64_t>(spare, SIZE_MAX)));
}

TensorView Matrix::scales() const {
  if (!is_quantized(format_)) return {};
  const auto* end = static_cast<const unsigned char*>(values_.data()) + values_.elements();
  return {end, DType::bf16, {outputs_, blocks_of(inputs_)}};
}

const std::uint16_t* Matrix::scale_row(std::size_t output) const {
  return static_cast<const std::uint16_t*>(scales().data()) + output * blocks_of(inputs_);
}

Matrix Matrix::of(const TensorView& rows, MatrixFormat format) {
  const float* from = expect_rows(rows);
  Matrix matrix(format, rows.dim(0), rows.dim(1));
  for (std::size_t row = 0; row < matrix.outputs_; ++row, from += matrix.inputs_) {
    if (!matrix.holds(from)) return Matrix(Tensor::copy_of(rows));
    matrix.set_row(row, from);
  }
  return matrix;
}

std::uint64_t Matrix::bytes_of(MatrixFormat format, std::size_t outputs, std::size_t inputs) {
  std::uint64_t row = std::uint64_t{row_elements(format, inputs)} * size_of(dtype_of(format));
  row += std::uint64_t{blocks_of(inputs)} * block_extra(format);
  return row * outputs;
}

bool Matrix::holds(const float* row) const {
  if (format_ == MatrixFormat::f32) return true;
  return largest_magnitude(row, inputs_) <=
         (format_ == MatrixFormat::f16 ? kLargestF16 : kLargestRotated);
}

void Matrix::set_row(std::size_t output, const float* row) {
  if (format_ == MatrixFormat::f32) {
    std::copy_n(row, inputs_, values_.f32() + output * inputs_);
  } else if (format_ == MatrixFormat::f16) {
    round_to_f16(row, inputs_, static_cast<std::uint16_t*>(values_.data()) + output * inputs_);
  } else {
    auto* to = static_cast<std::uint8_t*>(values_.data()) + output * values_.dim(1);
    auto* scales = const_cast<std::uint16_t*>(scale_row(output));
    for (std::size_t first = 0; first < inputs_; first += kBlock) {
      float block[kBlock] = {};
      std::copy_n(row + first, std::min(kBlock, inputs_ - first), block);
      rotate(block);
      *scales++ = format_ == MatrixFormat::q4 ? round_block4(block, to + first / 2)
                                              : round_block8(block, to + first);
    }
  }
}

void Matrix::copy_row(std::size_t output, float* to) const {
  if (format_ == MatrixFormat::f32) {
    std::copy_n(values_.f32() + output * inputs_, inputs_, to);
    return;
  }
  if (format_ == MatrixFormat::f16) {
    const auto* from = static_cast<const std::uint16_t*>(values_.data()) + output * inputs_;
    std::transform(from, from + inputs_, to, float_from_f16);
    return;
  }
  const auto* from = static_cast<const std::uint8_t*>(values_.data()) + output * values_.dim(1);
  const std::uint16_t* scales = scale_row(output);
  for (std::size_t first = 0; first < inputs_; first += kBlock) {
    float block[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::size_t k = first + i;
      const int number = format_ == MatrixFormat::q4 ? (from[k / 2] >> (k % 2 * 4) & 15) - kZero4
                                                     : from[k] - kZero8;
      block[i] = float_from_bf16(scales[k / kBlock]) * static_cast<float>(number);
    }
    rotate(block);
    std::copy_n(block, std::min(kBlock, inputs_ - first), to + first);
  }
}

Matrix Matrix::widened() const {
  Matrix wide(MatrixFormat::f32, outputs_, inputs_);
  for (std::size_t row = 0; row < outputs_; ++row) {
    copy_row(row, wide.values_.f32() + row * inputs_);
  }
  return wide;
}

Matrix Matrix::slice(const RowRuns& rows) const {
  Matrix part(format_, rows.count * rows.runs, inputs_);
  const auto copy = [&](const TensorView& from, const TensorView& to) {
    const std::size_t row = from.bytes() / outputs_;
    const auto* bytes = static_cast<const char*>(from.data());
    auto* written = static_cast<char*>(const_cast<void*>(to.data()));
    for (std::size_t run = 0; run < rows.runs; ++run) {
      std::memcpy(written + run * rows.count * row, bytes + (rows.first + run * rows.stride) * row,
                  rows.count * row);
    }
  };
  copy(values_, part.values_);
  if (is_quantized(format_)) copy(scales(), part.scales());
  return part;
}

}  // namespace clearformer
