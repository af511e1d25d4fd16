// Linear: y = x·Wᵀ + b, and the low-rank updates in force (low_rank.h).
// backward: dx = dy·W, dW = dyᵀ·x, db = Σ dy
// Source: torch.nn.Linear. Shapes: x (…, in), W (out, in), b (out), y (…, out).
#pragma once

#include <memory>

#include "clearformer/layers/low_rank.h"
#include "clearformer/weights/scope.h"

namespace clearformer {

/// Whether the layer has a bias.
enum class Bias { none, present };

/// Whether a result overwrites the output or is added to it.
enum class Write { over, onto };

/// Takes a matrix of the scope and packs it; the scope's list of parameters shares it, and the place of its updates.
std::shared_ptr<kernels::PackedMatrix> take_packed(
    const WeightScope& scope, std::string_view leaf, const Shape& expected, MatrixRole role,
    std::shared_ptr<LowRankUpdates> updates = nullptr);
/// The same for a weight (out, …) that is never quantised, as a matrix of its rows.
std::shared_ptr<kernels::PackedMatrix> take_packed_exact(const WeightScope& scope,
                                                         std::string_view leaf,
                                                         const Shape& expected);

/// y = x·Wᵀ + b, with weights in any format.
class Linear {
 public:
  Linear() = default;
  /// Loads "weight" and, if present, "bias" of the scope.
  Linear(const WeightScope& scope, std::size_t in_features, std::size_t out_features, Bias bias,
         MatrixRole role = MatrixRole::projection);
  /// Shares the weight of another layer (a tied output layer); the bias is the scope's.
  Linear(std::shared_ptr<const kernels::PackedMatrix> weight, const WeightScope& scope,
         std::size_t out_features, Bias bias);

  std::size_t in_features() const { return weight_->inputs(); }
  std::size_t out_features() const { return weight_->outputs(); }

  /// The weights of one output, (in), as floats, with the updates in force.
  void unpack_row(std::size_t output, float* to) const;
  /// (out), or empty.
  const Tensor& bias() const { return bias_; }

  using Elementwise = void (*)(const float* in, float* out, std::size_t count);
  /// x (…, in) -> y (…, out), with an optional fused activation.
  void forward(const TensorView& x, const MutableTensorView& y,
               Elementwise activation = nullptr) const;
  /// With Write::onto the result is added to y, with the same bits as a separate addition.
  void forward(const TensorView& x, const MutableTensorView& y, Write write) const;
  /// The same without the bias.
  void multiply(const TensorView& x, const MutableTensorView& y) const;

  /// From dy (…, out): dx (…, in), unless its data is null, and onto `gradients`, which may be null, those of weight,
  /// bias and updates that are wanted. x (…, in) is the input of forward(); its data may be null if neither the weight's
  /// nor those of updates are wanted.
  void backward(const TensorView& x, const TensorView& dy, const MutableTensorView& dx, Write write,
                const WeightGradients* gradients, Arena& arena) const;
  /// The two parts of it: that of multiply(), and the bias's.
  void multiply_backward(const TensorView& x, const TensorView& dy, const MutableTensorView& dx,
                         Write write, const WeightGradients* gradients, Arena& arena) const;
  void bias_backward(const TensorView& dy, const WeightGradients* gradients) const;

 private:
  const float* added() const { return bias_.empty() ? nullptr : bias_.f32(); }
  void check(const TensorView& x, const char* what, std::size_t width) const;
  void check(const TensorView& x, const TensorView& y) const;
  void multiply(const TensorView& x, const MutableTensorView& y,
                const kernels::Epilogue& epilogue) const;

  // The layer's place of them is shared with the list of parameters.
  std::shared_ptr<LowRankUpdates> updates_ = std::make_shared<LowRankUpdates>();
  std::shared_ptr<const kernels::PackedMatrix> weight_;
  Tensor bias_;
};

}  // namespace clearformer
