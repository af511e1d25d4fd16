#include "clearformer/layers/linear.h"

#include "clearformer/kernels/matmul.h"

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
