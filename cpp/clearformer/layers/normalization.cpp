#include "clearformer/layers/normalization.h"

#include "clearformer/kernels/norm.h"

namespace clearformer {

Normalization::Normalization(const WeightScope& scope, NormKind kind, std::size_t features,
                             float eps)
    : kind_(kind), features_(features), eps_(eps), weight_(scope.take("weight", {features})) {
  if (kind == NormKind::layer) bias_ = scope.take("bias", {features});
}

void Normalization::forward(TensorView x, MutableTensorView out, const Context& context) const {
  if (x.shape().rank() == 0 || x.shape().back(0) != features_) {
    fail(ErrorCode::shape_mismatch, "normalization: input of shape ", x.shape().text(),
         ", the weight has ", features_, " features");
  }
  const std::size_t rows = x.shape().outer(1);
  Arena::Frame frame(context.arena);
  Shape scale_shape = x.shape();
  scale_shape[scale_shape.rank() - 1] = 1;
  const MutableTensorView scale = context.arena.take(scale_shape);
  const float* numerator = x.f32();
  if (kind_ == NormKind::layer) {
    kernels::center_rows(x.f32(), out.f32(), scale.f32(), rows, features_, eps_);
    numerator = out.f32();
  } else {
    kernels::root_mean_square(x.f32(), scale.f32(), rows, features_, eps_);
  }
  context.trace("hook_scale", scale, "batch pos 1");
  kernels::divide_rows(numerator, scale.f32(), out.f32(), rows, features_);
  context.trace("hook_normalized", out, "batch pos d_model");
  kernels::scale_shift_rows(out.f32(), weight_.f32(), bias_.empty() ? nullptr : bias_.f32(),
                            out.f32(), rows, features_);
}

}  // namespace clearformer
