// Linear: y = x·Wᵀ + b.
// Source: torch.nn.Linear. Shapes: x (…, in), W (out, in), b (out), y (…, out).
#pragma once

#include <memory>

#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/weights/scope.h"

namespace clearformer {

/// Whether a vector is added.
enum class Bias { none, present };

/// What becomes of the numbers that a layer's output holds: they are replaced, or added to.
enum class Write { over, onto };

/// y = x·Wᵀ + b, the weights in any format.
class Linear {
 public:
  Linear() = default;
  /// Loads "weight" and, where asked for, "bias" of the scope.
  Linear(const WeightScope& scope, std::size_t in_features, std::size_t out_features, Bias bias,
         MatrixRole role = MatrixRole::projection);
  /// Shares a weight that another layer owns too (a tied output layer); a bias is the scope's own.
  Linear(std::shared_ptr<const kernels::PackedMatrix> weight, const WeightScope& scope,
         std::size_t out_features, Bias bias);

  std::size_t in_features() const { return weight_->inputs(); }
  std::size_t out_features() const { return weight_->outputs(); }

  /// The weights of one output, (in).
  void unpack_row(std::size_t output, float* to) const { weight_->unpack_row(output, to); }
  /// (out); empty where there is none.
  const Tensor& bias() const { return bias_; }

  using Elementwise = void (*)(const float* in, float* out, std::size_t count);
  /// x (…, in) -> y (…, out), through an activation where one is given.
  void forward(const TensorView& x, const MutableTensorView& y,
               Elementwise activation = nullptr) const;
  /// With Write::onto the result is added to y, with the bits of an addition by itself.
  void forward(const TensorView& x, const MutableTensorView& y, Write write) const;

 private:
  void multiply(const TensorView& x, const MutableTensorView& y,
                const kernels::Epilogue& epilogue) const;

  std::shared_ptr<const kernels::PackedMatrix> weight_;
  Tensor bias_;
};

}  // namespace clearformer
