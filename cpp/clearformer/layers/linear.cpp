#include "clearformer/layers/linear.h"

#include "clearformer/kernels/matmul.h"

namespace clearformer {

namespace {

std::shared_ptr<kernels::PackedMatrix> held(const WeightScope& scope, std::string_view leaf,
                                            Matrix&& weight) {
  auto packed = std::make_shared<kernels::PackedMatrix>(std::move(weight));
  scope.hold(leaf, packed);
  return packed;
}

}  // namespace

std::shared_ptr<kernels::PackedMatrix> take_packed(const WeightScope& scope, std::string_view leaf,
                                                   const Shape& expected, MatrixRole role) {
  return held(scope, leaf, scope.take_matrix(leaf, expected, role));
}

std::shared_ptr<kernels::PackedMatrix> take_packed_exact(const WeightScope& scope,
                                                         std::string_view leaf,
                                                         const Shape& expected) {
  Tensor weight = scope.take(leaf, expected);
  if (!weight.empty()) weight.reshape({expected[0], weight.elements() / expected[0]});
  return held(scope, leaf, Matrix(std::move(weight)));
}

Linear::Linear(const WeightScope& scope, std::size_t in_features, std::size_t out_features,
               Bias bias, MatrixRole role)
    : weight_(take_packed(scope, "weight", {out_features, in_features}, role)) {
  if (bias == Bias::present) bias_ = scope.take_flat("bias", {out_features});
}

Linear::Linear(std::shared_ptr<const kernels::PackedMatrix> weight, const WeightScope& scope,
               std::size_t out_features, Bias bias)
    : weight_(std::move(weight)) {
  if (bias == Bias::present) bias_ = scope.take_flat("bias", {out_features});
}

void Linear::multiply(const TensorView& x, const MutableTensorView& y,
                      const kernels::Epilogue& epilogue) const {
  if (x.shape().rank() == 0 || x.shape().back(0) != in_features()) {
    fail(ErrorCode::shape_mismatch, "linear: input of shape ", x.shape().text(), " has rows of ",
         x.shape().rank() == 0 ? 0 : x.shape().back(0), ", the weight takes ", in_features());
  }
  kernels::Epilogue with_bias = epilogue;
  if (!bias_.empty()) with_bias.bias = bias_.f32();
  weight_->multiply(x.f32(), y.f32(), x.shape().outer(1), with_bias);
}

void Linear::forward(const TensorView& x, const MutableTensorView& y,
                     Elementwise activation) const {
  multiply(x, y, {.activation = activation});
}

void Linear::forward(const TensorView& x, const MutableTensorView& y, Write write) const {
  const float* added = write == Write::onto ? y.f32() : nullptr;
  multiply(x, y, {.residual = added, .residual_stride = out_features()});
}

}  // namespace clearformer
