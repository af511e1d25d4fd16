#include "clearformer/layers/normalization.h"

#include <cstring>

#include "clearformer/kernels/norm.h"

namespace clearformer {

namespace {
const float* data_of(const Tensor& tensor) { return tensor.empty() ? nullptr : tensor.f32(); }
}  // namespace

Normalization::Normalization(const WeightScope& scope, const NormConfig& config) : config_(config) {
  if (config.kind == NormKind::none) return;
  if (config.weight) weight_ = scope.take("weight", config.shape);
  for (std::size_t i = 0; config.weight_offset != 0.0f && i < weight_.elements(); ++i) {
    weight_.f32()[i] += config.weight_offset;
  }
  if (config.bias && config.kind == NormKind::layer) bias_ = scope.take("bias", config.shape);
}

void Normalization::forward(TensorView x, MutableTensorView out, const Context& context) const {
  if (config_.kind == NormKind::none) {
    if (out.f32() != x.f32()) std::memcpy(out.f32(), x.f32(), x.bytes());
    return;
  }
  const std::size_t features = config_.shape.elements();
  if (x.shape().rank() == 0 || x.shape().back(0) != features) {
    fail(ErrorCode::shape_mismatch, "normalization: input of shape ", x.shape().text(),
         ", the weight has ", features, " features");
  }
  const std::size_t rows = x.shape().outer(1);
  Arena::Frame frame(context.arena);
  Shape scale_shape = x.shape();
  scale_shape[scale_shape.rank() - 1] = 1;
  const MutableTensorView scale = context.arena.take(scale_shape);
  const float* numerator = x.f32();
  if (config_.kind == NormKind::layer) {
    kernels::center_rows(x.f32(), out.f32(), scale.f32(), rows, features, config_.eps);
    numerator = out.f32();
  } else {
    kernels::root_mean_square(x.f32(), scale.f32(), rows, features, config_.eps);
  }
  context.trace("hook_scale", scale, "batch pos 1");
  kernels::RowNorm norm{numerator, scale.f32(), data_of(weight_), data_of(bias_), rows, features};
  if (context.trace.wants("hook_normalized")) {
    kernels::divide_rows(numerator, scale.f32(), out.f32(), rows, features);
    context.trace("hook_normalized", out, "batch pos d_model");
    kernels::scale_shift_rows(out.f32(), norm.weight, norm.bias, out.f32(), rows, features);
  } else {
    kernels::divide_scale_shift_rows(norm, out.f32());
  }
}

}  // namespace clearformer
