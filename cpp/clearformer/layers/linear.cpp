#include "clearformer/layers/linear.h"

namespace clearformer {

Linear::Linear(const WeightScope& scope, std::size_t in_features, std::size_t out_features,
               Bias bias, MatrixRole role)
    : weight_(std::make_shared<kernels::PackedMatrix>(
          scope.take_matrix("weight", {out_features, in_features}, role))) {
  if (bias == Bias::present) bias_ = scope.take_flat("bias", {out_features});
}

Linear::Linear(std::shared_ptr<const kernels::PackedMatrix> weight, const WeightScope& scope,
               std::size_t out_features, Bias bias)
    : weight_(std::move(weight)) {
  if (bias == Bias::present) bias_ = scope.take_flat("bias", {out_features});
}

void Linear::forward(TensorView x, MutableTensorView y, Elementwise activation) const {
  if (x.shape().rank() == 0 || x.shape().back(0) != in_features()) {
    fail(ErrorCode::shape_mismatch, "linear: input of shape ", x.shape().text(), " has rows of ",
         x.shape().rank() == 0 ? 0 : x.shape().back(0), ", the weight takes ", in_features());
  }
  const float* bias = bias_.empty() ? nullptr : bias_.f32();
  weight_->multiply(x.f32(), y.f32(), x.shape().outer(1), {.bias = bias, .activation = activation});
}

}  // namespace clearformer
