// PackedMatrix: the weight of a linear layer in the panels that matmul reads, packed once.
#pragma once

#include "clearformer/kernels/matmul.h"
#include "clearformer/tensor/matrix.h"

namespace clearformer::kernels {

class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Packs a weight (N outputs, K inputs) as torch.nn.Linear stores it, in place where the tensor
  /// has room for whole panels (Weights::allocate leaves it), else through one copy. An empty
  /// tensor, whose problem is reported elsewhere, gives an empty matrix.
  explicit PackedMatrix(Matrix weight);

  MatrixFormat format() const { return format_; }
  std::size_t outputs() const { return outputs_; }
  std::size_t inputs() const { return inputs_; }
  std::size_t bytes() const { return panels_.capacity() * sizeof(float); }

  /// Copies row `output` of the weight, (K), to `to`: an embedding table reads its rows this way.
  void unpack_row(std::size_t output, float* to) const;

  /// y = x·Wᵀ + bias for `rows` rows of x (rows, K) into y (rows, N); a null bias is left out.
  void multiply(const float* x, float* y, std::size_t rows, const float* bias) const;

 private:
  MatrixFormat format_ = MatrixFormat::f32;
  std::size_t outputs_ = 0;
  std::size_t inputs_ = 0;
  Tensor panels_;
};

}  // namespace clearformer::kernels
