// Matrix: the weight of a linear layer before packing, in fp32, fp16 or quantised.
// Shapes: N outputs (rows), K inputs.
//
//   f32  (N, K) floats
//   f16  (N, K) IEEE binary16, rounded to nearest even
//   q8   integers within ±127
//   q4   integers within -8 … 7
// The rows of q8 and q4 are rotated in blocks of 64 inputs (rotation.h), each of which has one bfloat16 scale.
// Scales minimise the squared error (see rounding.cpp). If a format cannot represent some row (not finite, above
// 65,504 in f16, above 1e37 in q8 and q4), the whole matrix stays f32.
#pragma once

#include <optional>
#include <string_view>

#include "clearformer/tensor/tensor.h"
#include "clearformer/tensor/weight_rows.h"

namespace clearformer {

/// In order of decreasing precision. q8_fine is stored as q8; its products round their inputs to 13 bits instead of 7.
enum class MatrixFormat { f32, f16, q8_fine, q8, q4 };

/// The format of a dtype option ("fp32", "fp16", "q8", "q4"); nullopt for other names.
std::optional<MatrixFormat> matrix_format_named(std::string_view name);
/// The same; throws unsupported for other names.
MatrixFormat expect_matrix_format(std::string_view name);
/// The dtype option that selects it; q8_fine belongs to "q8" and "q4".
std::string_view to_string(MatrixFormat format);

/// Whether the format stores integers and scales.
constexpr bool is_quantized(MatrixFormat format) {
  return format != MatrixFormat::f32 && format != MatrixFormat::f16;
}

/// Rows of a matrix: `runs` runs of `count`, which begin at `first`, first + stride, …
struct RowRuns {
  std::size_t first = 0, count = 0, stride = 0, runs = 1;
};

/// The weight (N, K) of a linear layer in one of the formats: as rows, or packed for the matrix product.
class Matrix : public WeightRows {
 public:
  Matrix() = default;
  /// Takes fp32 rows (N, K) as they are. Throws shape_mismatch for another number of axes and dtype_mismatch for another
  /// dtype, as of().
  explicit Matrix(Tensor rows);
  /// Allocates N rows in `format`, with room for the packed form in their place: the rows that complete the last panel,
  /// and the scales, which panels hold as well. set_row() fills the rows.
  Matrix(MatrixFormat format, std::size_t outputs, std::size_t inputs);
  /// Converts fp32 rows (N, K) to `format`, or keeps f32 if the format cannot represent them.
  static Matrix of(const TensorView& rows, MatrixFormat format);

  bool empty() const { return values_.empty(); }
  MatrixFormat format() const override { return format_; }
  std::size_t outputs() const override { return outputs_; }
  std::size_t inputs() const override { return inputs_; }
  std::size_t bytes() const override {
    return static_cast<std::size_t>(bytes_of(format_, outputs_, inputs_));
  }
  WeightPlace place() const override { return {values_.data(), 0, outputs_ * inputs_, false}; }
  /// Bytes of a matrix of that format and size, as rows or packed, without the rows that complete the last panel.
  static std::uint64_t bytes_of(MatrixFormat format, std::size_t outputs, std::size_t inputs);

  /// Whether the format can represent `row` (K floats).
  bool holds(const float* row) const;
  /// Rounds K floats to the format and stores them as a row.
  void set_row(std::size_t output, const float* row) override;
  /// Widens a row to K floats.
  void copy_row(std::size_t output, float* to) const override;
  /// The same rows in f32.
  Matrix widened() const;
  /// A copy of these rows.
  Matrix slice(const RowRuns& rows) const;

  /// The elements, where K' is K rounded up to a multiple of 64: (N, K) of f32 or f16; (N, K') of u8, integers plus 128
  /// (q8, q8_fine); (N, K'/2) of u8, integers plus 8, input 2i in the low nibble of byte i (q4).
  Tensor& values() { return values_; }
  const Tensor& values() const { return values_; }
  /// (N, K'/64) in bfloat16, behind the elements in the same allocation; empty for f32 and f16.
  TensorView scales() const;

 private:
  const std::uint16_t* scale_row(std::size_t output) const;

  MatrixFormat format_ = MatrixFormat::f32;
  std::size_t outputs_ = 0, inputs_ = 0;
  Tensor values_;
};

}  // namespace clearformer
