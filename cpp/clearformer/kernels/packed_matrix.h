// PackedMatrix: the weight of a linear layer, packed once into the panels that the matrix products read.
#pragma once

#include "clearformer/tensor/arena.h"
#include "clearformer/tensor/matrix.h"

namespace clearformer::kernels {

struct Epilogue;     // of matmul.h
struct ProductArgs;  // of matmul.h

/// The weight of a linear layer in panels.
class PackedMatrix : public WeightRows {
 public:
  PackedMatrix() = default;
  /// Packs a weight (N outputs, K inputs) as torch.nn.Linear stores it; fp32 in place if the tensor has room for whole
  /// panels (Weights::allocate provides it), otherwise through one copy. An empty matrix, the result of a problem
  /// reported elsewhere, gives an empty one.
  explicit PackedMatrix(Matrix weight);
  explicit PackedMatrix(Tensor weight) : PackedMatrix(Matrix(std::move(weight))) {}

  MatrixFormat format() const override { return format_; }
  std::size_t outputs() const override { return outputs_; }
  std::size_t inputs() const override { return inputs_; }
  std::size_t bytes() const override { return panels_.capacity() * size_of(panels_.dtype()); }
  WeightPlace place() const override { return {panels_.data(), 0, outputs_ * inputs_, true}; }

  /// Row `output` of the weight, (K), widened to floats: the look-up of an embedding table.
  void copy_row(std::size_t output, float* to) const override;
  /// Stores a row (K) in its panel; of fp32 and fp16 only.
  void set_row(std::size_t output, const float* row) override;

  /// Of fp16: the power of two that times the numbers in the panels gives the weight's.
  float unlift() const;

  /// y = epilogue(x·Wᵀ) for `rows` rows of x (rows, K) into y (rows, N).
  void multiply(const float* x, float* y, std::size_t rows, const Epilogue& epilogue) const;

  /// dx = dy·W + residual for `rows` rows of dy (rows, N) into dx (rows, K); `residual` (rows, K) may be dx, or null.
  /// Quantised weights are dequantised. Each element adds up blocks of outputs, those of a block in order, with the
  /// same bits for any number of threads.
  void multiply_transposed(const float* dy, float* dx, std::size_t rows, const float* residual,
                           Arena& arena) const;

 private:
  void copy_part(std::size_t output, std::size_t first, std::size_t end, float* to) const;
  struct Part {
    std::size_t n, depth;      // outputs; n is a multiple of the panel's width
    std::size_t first, count;  // inputs
  };
  void copy_transposed(const Part& part, float* panels) const;
  void pack_floats(Tensor rows);
  void pack(Matrix weight);
  void multiply_quantized(const float* x, const ProductArgs& product) const;
  void lower(int lift);

  MatrixFormat format_ = MatrixFormat::f32;
  std::size_t outputs_ = 0;
  std::size_t inputs_ = 0;
  int lift_ =
      0;  // f16: the panels have the weight times 2^lift, in which products meet no subnormal numbers
  Tensor panels_;
};

/// The place of a column among the W of a panel of halves (matmul.h).
std::size_t place_of_half(std::size_t column);

/// Whether q8 and q4 products are correct here, from a self-test with known results: before V8 11.4 relaxed SIMD is
/// behind a flag and its dot products are wrong.
bool integer_products_are_right();

}  // namespace clearformer::kernels
