#include "clearformer/layers/linear.h"

#include "clearformer/kernels/matmul.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

std::shared_ptr<kernels::PackedMatrix> held(const WeightScope& scope, std::string_view leaf,
                                            Matrix&& weight,
                                            std::shared_ptr<LowRankUpdates> updates) {
  auto packed = std::make_shared<kernels::PackedMatrix>(std::move(weight));
  scope.hold(leaf, packed, std::move(updates));
  return packed;
}

}  // namespace

std::shared_ptr<kernels::PackedMatrix> take_packed(const WeightScope& scope, std::string_view leaf,
                                                   const Shape& expected, MatrixRole role,
                                                   std::shared_ptr<LowRankUpdates> updates) {
  return held(scope, leaf, scope.take_matrix(leaf, expected, role), std::move(updates));
}

std::shared_ptr<kernels::PackedMatrix> take_packed_exact(const WeightScope& scope,
                                                         std::string_view leaf,
                                                         const Shape& expected) {
  Tensor weight = scope.take(leaf, expected);
  if (!weight.empty()) weight.reshape({expected[0], weight.elements() / expected[0]});
  return held(scope, leaf, Matrix(std::move(weight)), nullptr);
}

Linear::Linear(const WeightScope& scope, std::size_t in_features, std::size_t out_features,
               Bias bias, MatrixRole role)
    : weight_(take_packed(scope, "weight", {out_features, in_features}, role, updates_)) {
  if (bias == Bias::present) bias_ = scope.take_flat("bias", {out_features});
}

Linear::Linear(std::shared_ptr<const kernels::PackedMatrix> weight, const WeightScope& scope,
               std::size_t out_features, Bias bias)
    : weight_(std::move(weight)) {
  if (bias == Bias::present) bias_ = scope.take_flat("bias", {out_features});
}

void Linear::check(const TensorView& x, const char* what, std::size_t width) const {
  if (x.shape().rank() != 0 && x.shape().back(0) == width) return;
  fail(ErrorCode::shape_mismatch, "linear: ", what, " of shape ", x.shape().text(), " has rows of ",
       x.shape().rank() == 0 ? 0 : x.shape().back(0), ", the weight takes ", width);
}

void Linear::check(const TensorView& x, const TensorView& y) const {
  check(x, "input", in_features());
  if (y.elements() == std::uint64_t{x.shape().outer(1)} * out_features()) return;
  fail(ErrorCode::shape_mismatch, "linear: output of shape ", y.shape().text(), " for ",
       out_features(), " outputs of an input of shape ", x.shape().text());
}

void Linear::multiply(const TensorView& x, const MutableTensorView& y) const { multiply(x, y, {}); }

void Linear::multiply(const TensorView& x, const MutableTensorView& y,
                      const kernels::Epilogue& epilogue) const {
  check(x, y);
  weight_->multiply(x.f32(), y.f32(), x.shape().outer(1), epilogue);
  updates_->forward(x.f32(), y.f32(), x.shape().outer(1));
}

void Linear::forward(const TensorView& x, const MutableTensorView& y,
                     Elementwise activation) const {
  if (!updates_->any()) return multiply(x, y, {.bias = added(), .activation = activation});
  forward(x, y, Write::over);
  if (activation == nullptr) return;
  constexpr std::size_t kWork = 16, kRun = 64;
  parallel_ranges(y.elements(), kWork, kRun, [&](std::size_t first, std::size_t end) {
    activation(y.f32() + first, y.f32() + first, end - first);
  });
}

void Linear::forward(const TensorView& x, const MutableTensorView& y, Write write) const {
  const float* residual = write == Write::onto ? y.f32() : nullptr;
  multiply(x, y, {.bias = added(), .residual = residual, .residual_stride = out_features()});
}

void Linear::unpack_row(std::size_t output, float* to) const {
  weight_->copy_row(output, to);
  updates_->add_row(output, to);
}

void Linear::multiply_backward(const TensorView& x, const TensorView& dy,
                               const MutableTensorView& dx, Write write,
                               const WeightGradients* gradients, Arena& arena) const {
  check(dy, "gradient of the output", out_features());
  const std::size_t rows = dy.shape().outer(1);
  if (gradients != nullptr) {
    if (kernels::PanelGradient* sums = gradients->of(*weight_)) {
      check(x, "input", in_features());
      sums->add_outer(dy.f32(), x.f32(), rows, arena);
    }
  }
  if (dx.data() != nullptr) {
    check(dx, "gradient of the input", in_features());
    weight_->multiply_transposed(dy.f32(), dx.f32(), rows,
                                 write == Write::onto ? dx.f32() : nullptr, arena);
  }
  updates_->backward(x.f32(), dy.f32(), dx.f32(), rows, gradients, arena);
}

void Linear::bias_backward(const TensorView& dy, const WeightGradients* gradients) const {
  float* const sums = gradients == nullptr ? nullptr : gradients->of(bias_);
  if (sums == nullptr) return;
  add_sum_of_rows(dy.f32(), nullptr, dy.shape().outer(1), out_features(), sums);
}

void Linear::backward(const TensorView& x, const TensorView& dy, const MutableTensorView& dx,
                      Write write, const WeightGradients* gradients, Arena& arena) const {
  bias_backward(dy, gradients);  // before dx, which may be dy
  multiply_backward(x, dy, dx, write, gradients, arena);
}

}  // namespace clearformer
