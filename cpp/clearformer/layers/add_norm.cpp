#include "clearformer/layers/add_norm.h"

#include <cstring>
#include <vector>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/weight_gradients.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

NormConfig norm_before(const NormConfig& config, NormOrder order) {
  NormConfig before = config;
  if (order == NormOrder::behind) before.kind = NormKind::none;
  return before;
}

}  // namespace

AddNorm::AddNorm(const WeightScope& scope, std::string_view name, const NormConfig& config,
                 NormOrder order, float scale, LayerScale layer_scale)
    : norm_(scope / name, norm_before(config, order)), order_(order), scale_(scale) {
  if (order == NormOrder::both || order == NormOrder::behind) {
    after_.emplace(scope / concat(name, "_post"), config);
  }
  if (layer_scale == LayerScale::present) {
    layer_scale_ = (scope / concat(name, "_scale")).take("weight", config.shape);
  }
}

TensorView AddNorm::input_of(const MutableTensorView& x, const AddNormHooks& hooks,
                             const Context& context) const {
  MutableTensorView in = x;
  const bool copied = !hooks.input.empty() && context.trace.wants(hooks.input);
  if (copied || order_ != NormOrder::behind) in = context.arena.take(x.shape());
  if (copied) {
    std::memcpy(in.data(), x.data(), x.bytes());
    context.trace(hooks.input, in, "batch pos d_model");
  }
  if (order_ != NormOrder::behind) norm_.forward(copied ? in : x, in, context / hooks.norm);
  return in;
}

void AddNorm::add(const MutableTensorView& x, const MutableTensorView& update,
                  const AddNormHooks& hooks, const Context& context) const {
  if (after_) after_->forward(update, update, context / concat(hooks.norm, "_post"));
  if (scale_ != 1.0f) kernels::scale(update.f32(), scale_, update.elements());
  if (layer_scale_) {
    if (context.trace.keeps_inputs()) (context / hooks.norm).trace.keep("unscaled", update);
    multiply_rows(update, *layer_scale_);
  }
  context.trace(hooks.update, update, "batch pos d_model");
  constexpr std::size_t kWork = 4, kLanes = 64;  // cost of an addition; ranges of whole registers
  parallel_ranges(x.elements(), kWork, kLanes, [&](std::size_t first, std::size_t end) {
    float* const sum = x.f32() + first;
    kernels::add(sum, update.f32() + first, sum, end - first);
  });
}

void AddNorm::multiply_rows(const MutableTensorView& x, const TensorView& scale) {
  const std::size_t width = scale.elements();
  parallel_ranges(x.elements() / width, width, 1, [&](std::size_t first, std::size_t end) {
    for (float* row = x.f32() + first * width; row < x.f32() + end * width; row += width) {
      kernels::multiply(row, scale.f32(), row, width);
    }
  });
}

AddNorm::Step AddNorm::begin_back(const MutableTensorView& d, const AddNormHooks& hooks,
                                  const Context& context) const {
  const Context norm = context / hooks.norm;
  if (order_ == NormOrder::post) norm_.backward(d, d, Write::over, norm);
  context.trace.back(hooks.sum, d, "batch pos d_model");
  Step step{{}, update_back(d, hooks, context), d, Write::onto};
  const bool inputs = context.trace.weights() != nullptr;
  if (reads_stream()) {
    if (inputs) step.in = norm.trace.kept("in");
    if (order_ == NormOrder::post || !offers_input(hooks, context)) return step;
  }
  step.d_in = context.arena.take(d.shape());
  step.write = Write::over;
  if (inputs && !reads_stream()) step.in = norm_.output_again(d.shape(), norm);
  return step;
}

bool AddNorm::offers_input(const AddNormHooks& hooks, const Context& context) {
  return !hooks.input.empty() && context.trace.concerns_back(hooks.input);
}

// d += N'd_in, which is offered if that is sought.
void AddNorm::end_back(const Step& step, const MutableTensorView& d, const AddNormHooks& hooks,
                       const Context& context) const {
  const Context norm = context / hooks.norm;
  if (!offers_input(hooks, context)) return norm_.backward(step.d_in, d, Write::onto, norm);
  if (!reads_stream()) norm_.backward(step.d_in, step.d_in, Write::over, norm);
  context.trace.back(hooks.input, step.d_in, "batch pos d_model");
  kernels::add(d.f32(), step.d_in.f32(), d.f32(), d.elements());
}

// The gradient of the sub-layer's output: d itself if nothing lies between.
MutableTensorView AddNorm::update_back(const MutableTensorView& d, const AddNormHooks& hooks,
                                       const Context& context) const {
  const bool plain = !after_ && !layer_scale_ && scale_ == 1.0f;
  MutableTensorView update = d;
  if (!plain || context.trace.changes_back(hooks.update)) {
    update = context.arena.take(d.shape());
    std::memcpy(update.data(), d.data(), d.bytes());
  }
  context.trace.back(hooks.update, update, "batch pos d_model");
  if (layer_scale_) layer_scale_back(update, context / hooks.norm);
  if (scale_ != 1.0f) kernels::scale(update.f32(), scale_, update.elements());
  if (after_) {
    after_->backward(update, update, Write::over, context / concat(hooks.norm, "_post"));
  }
  return update;
}

// dλ = Σ d ⊙ f,  df = λ ⊙ d
void AddNorm::layer_scale_back(const MutableTensorView& d, const Context& norm) const {
  WeightGradients* weights = norm.trace.weights();
  if (float* sums = weights == nullptr ? nullptr : weights->of(*layer_scale_)) {
    const TensorView unscaled = norm.trace.kept("unscaled");
    const std::size_t width = layer_scale_->elements();
    std::vector<double> total(width, 0.0);
    for (std::size_t i = 0; i < d.elements(); ++i) {
      total[i % width] += static_cast<double>(d.f32()[i]) * unscaled.f32()[i];
    }
    for (std::size_t i = 0; i < width; ++i) sums[i] += static_cast<float>(total[i]);
  }
  multiply_rows(d, *layer_scale_);
}

}  // namespace clearformer
