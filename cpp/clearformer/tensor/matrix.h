// Matrix: the weight of a linear layer before it is packed, in fp32 or in fewer bits.
// Shapes: N outputs (rows), K inputs.
//
//   f32  (N, K) floats
//   f16  (N, K) IEEE binary16, rounded to nearest even
//   q8   w ≈ s · (u - 128), u in 1 … 255, one fp32 scale s a row, or for each 512 inputs of rows of more
//        than 1,024; q8_fine: for each 64 inputs
//   q4   w ≈ s · (u - 8), u in 0 … 15, one bfloat16 scale s for each 32 inputs of a row
//
// Scales are those of the least squared error (see matrix.cpp). A row that a format can't hold (not
// finite, beyond 65,504 in f16, beyond 3e38 in q8 and q4) leaves the whole matrix f32.
#pragma once

#include <optional>
#include <string_view>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// From the most exact one down.
enum class MatrixFormat { f32, f16, q8_fine, q8, q4 };

/// The format that load options call "fp32", "fp16", "q8", "q4"; nothing for other names.
std::optional<MatrixFormat> matrix_format_named(std::string_view name);
/// The name it is loaded by: q8_fine is part of what "q8" and "q4" give.
std::string_view to_string(MatrixFormat format);

/// Inputs of a row that share a scale; the last ones of a row may be fewer. 0 without scales. A single
/// row's product waits for the memory after each block, so there are several only where it takes them.
constexpr std::size_t block_of(MatrixFormat format, std::size_t inputs) {
  constexpr std::size_t kLong = 1024;
  switch (format) {
    case MatrixFormat::q8_fine: return 64;
    case MatrixFormat::q8: return inputs > kLong ? 512 : kLong;
    case MatrixFormat::q4: return 32;
    default: return 0;
  }
}

/// The weights (N, K) of a linear layer in one of the formats: as rows, or packed for the product.
class Matrix {
 public:
  static constexpr int kZero8 = 128, kZero4 = 8;

  Matrix() = default;
  /// Takes fp32 rows (N, K) as they are.
  explicit Matrix(Tensor rows);
  /// Room for N rows in `format`, and for the rows that fill up a panel of the packed form behind
  /// them; set_row() fills it.
  Matrix(MatrixFormat format, std::size_t outputs, std::size_t inputs);
  /// rows (N, K) fp32 in `format`, or in f32 where the format can't hold them.
  static Matrix of(const TensorView& rows, MatrixFormat format);

  bool empty() const { return values_.empty(); }
  MatrixFormat format() const { return format_; }
  std::size_t outputs() const { return outputs_; }
  std::size_t inputs() const { return inputs_; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(bytes_of(format_, outputs_, inputs_));
  }
  /// What such a matrix takes.
  static std::uint64_t bytes_of(MatrixFormat format, std::size_t outputs, std::size_t inputs);

  /// Whether `row` (K floats) can be held.
  bool holds(const float* row) const;
  /// Rounds K floats to the format.
  void set_row(std::size_t output, const float* row);
  /// Widens a row to K floats.
  void copy_row(std::size_t output, float* to) const;
  /// The same rows in f32.
  Matrix widened() const;
  /// Rows first … first + count - 1 by themselves.
  Matrix slice(std::size_t first, std::size_t count) const;

  /// The elements: (N, K) of f32, f16 or u8 (q8, q8_fine), (N, K/32·16) of u8 (q4: input 2i in the low half
  /// of byte i; the last block is whole).
  Tensor& values() { return values_; }
  const Tensor& values() const { return values_; }
  /// (N, ⌈K/block_of(format, K)⌉), fp32 or, of q4, bfloat16; empty where there are none.
  const Tensor& scales() const { return scales_; }

 private:
  MatrixFormat format_ = MatrixFormat::f32;
  std::size_t outputs_ = 0, inputs_ = 0;
  Tensor values_, scales_;
};

/// float to IEEE 754 binary16 bits, to nearest even; beyond 65,519 it is infinity.
std::uint16_t f16_from_float(float value);
/// float to bfloat16 bits, to nearest even.
std::uint16_t bf16_from_float(float value);

}  // namespace clearformer
