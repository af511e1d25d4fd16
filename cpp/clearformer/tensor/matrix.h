// Matrix: the weight of a linear layer before packing, in fp32, fp16 or quantised.
// Shapes: N outputs (rows), K inputs.
//
//   f32  (N, K) floats
//   f16  (N, K) IEEE binary16, rounded to nearest even
//   q8   w ≈ s · (u - 128), u in 1 … 255, one fp32 scale s per row, or per 512 inputs in rows of more than 1,024
//        inputs; q8_fine: one per 64 inputs
//   q4   w ≈ s · (u - 8), u in 0 … 15, one bfloat16 scale s per 32 inputs of a row
//
// Scales minimise the squared error (see matrix.cpp). If a format cannot represent some row (not finite, above
// 65,504 in f16, above 3e38 in q8 and q4), the whole matrix stays f32.
#pragma once

#include <optional>
#include <string_view>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// In order of decreasing precision.
enum class MatrixFormat { f32, f16, q8_fine, q8, q4 };

/// The format of a dtype option ("fp32", "fp16", "q8", "q4"); nullopt for other names.
std::optional<MatrixFormat> matrix_format_named(std::string_view name);
/// The dtype option that selects it; q8_fine belongs to "q8" and "q4".
std::string_view to_string(MatrixFormat format);

/// Block size: inputs of a row that share a scale, 0 for formats without scales. A row's last block may be
/// shorter. A single row's product stalls on memory after each block, so q8 has several only in long rows.
constexpr std::size_t block_of(MatrixFormat format, std::size_t inputs) {
  constexpr std::size_t kLong = 1024;
  switch (format) {
    case MatrixFormat::q8_fine: return 64;
    case MatrixFormat::q8: return inputs > kLong ? 512 : kLong;
    case MatrixFormat::q4: return 32;
    default: return 0;
  }
}

/// The weight (N, K) of a linear layer in one of the formats: as rows, or packed for the matrix product.
class Matrix {
 public:
  static constexpr int kZero8 = 128, kZero4 = 8;

  Matrix() = default;
  /// Takes fp32 rows (N, K) as they are.
  explicit Matrix(Tensor rows);
  /// Allocates N rows in `format`, plus the rows that complete the last panel of the packed form; set_row() fills
  /// them.
  Matrix(MatrixFormat format, std::size_t outputs, std::size_t inputs);
  /// Converts fp32 rows (N, K) to `format`, or keeps f32 if the format cannot represent them.
  static Matrix of(const TensorView& rows, MatrixFormat format);

  bool empty() const { return values_.empty(); }
  MatrixFormat format() const { return format_; }
  std::size_t outputs() const { return outputs_; }
  std::size_t inputs() const { return inputs_; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(bytes_of(format_, outputs_, inputs_));
  }
  /// Bytes of a matrix of that format and size.
  static std::uint64_t bytes_of(MatrixFormat format, std::size_t outputs, std::size_t inputs);

  /// Whether the format can represent `row` (K floats).
  bool holds(const float* row) const;
  /// Rounds K floats to the format and stores them as a row.
  void set_row(std::size_t output, const float* row);
  /// Widens a row to K floats.
  void copy_row(std::size_t output, float* to) const;
  /// The same rows in f32.
  Matrix widened() const;
  /// A copy of rows first … first + count - 1.
  Matrix slice(std::size_t first, std::size_t count) const;

  /// The elements: (N, K) of f32, f16 or u8 (q8, q8_fine), (N, K/32·16) of u8 (q4: input 2i in the low nibble of
  /// byte i; the last block is padded).
  Tensor& values() { return values_; }
  const Tensor& values() const { return values_; }
  /// (N, ⌈K/block_of(format, K)⌉) in fp32, or bfloat16 for q4; empty for formats without scales.
  const Tensor& scales() const { return scales_; }

 private:
  MatrixFormat format_ = MatrixFormat::f32;
  std::size_t outputs_ = 0, inputs_ = 0;
  Tensor values_, scales_;
};

/// float to IEEE 754 binary16 bits, rounded to nearest even; magnitudes above 65,519 become infinity.
std::uint16_t f16_from_float(float value);
/// float to bfloat16 bits, rounded to nearest even.
std::uint16_t bf16_from_float(float value);

}  // namespace clearformer
