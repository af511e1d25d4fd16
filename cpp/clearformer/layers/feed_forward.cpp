#include "clearformer/layers/feed_forward.h"

#include <cstring>
#include <span>

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/mixture_of_experts.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

struct Named {
  const char* name;
  Activation activation;
};

// transformers' ACT2FN, without those that have parameters (prelu, xielu); first the functions that are not
// activations of a config.json.
constexpr Named kNames[] = {
    {"erf", Activation::erf},
    {"softplus", Activation::softplus},
    {"gelu", Activation::gelu_erf},
    {"gelu_10", Activation::clipped_gelu},
    {"gelu_accurate", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_python", Activation::gelu_erf},
    {"gelu_python_tanh", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"hardswish", Activation::hard_swish},
    {"laplace", Activation::laplace},
    {"leaky_relu", Activation::leaky_relu},
    {"linear", Activation::linear},
    {"mish", Activation::mish},
    {"quick_gelu", Activation::quick_gelu},
    {"relu", Activation::relu},
    {"relu2", Activation::relu_squared},
    {"relu6", Activation::relu6},
    {"sigmoid", Activation::sigmoid},
    {"silu", Activation::silu},
    {"sqrtsoftplus", Activation::sqrt_softplus},
    {"swish", Activation::silu},
    {"tanh", Activation::tanh},
};

std::optional<Activation> find(std::span<const Named> names, std::string_view name) {
  for (const Named& entry : names) {
    if (name == entry.name) return entry.activation;
  }
  return std::nullopt;
}

// Null: the identity.
Linear::Elementwise kernel_of(Activation activation) {
  switch (activation) {
    case Activation::relu: return kernels::relu;
    case Activation::silu: return kernels::silu;
    case Activation::gelu_erf: return kernels::gelu_erf;
    case Activation::gelu_tanh: return kernels::gelu_tanh;
    case Activation::quick_gelu: return kernels::quick_gelu;
    case Activation::tanh: return kernels::hyperbolic_tangent;
    case Activation::linear: return nullptr;
    case Activation::sigmoid: return kernels::sigmoid;
    case Activation::softplus: return kernels::softplus;
    case Activation::sqrt_softplus: return kernels::sqrt_softplus;
    case Activation::erf: return kernels::error_function;
    case Activation::laplace: return kernels::laplace;
    case Activation::mish: return kernels::mish;
    case Activation::relu_squared: return kernels::relu_squared;
    case Activation::relu6: return kernels::relu6;
    case Activation::leaky_relu: return kernels::leaky_relu;
    case Activation::hard_swish: return kernels::hard_swish;
    case Activation::clipped_gelu: return kernels::clipped_gelu;
  }
  return nullptr;
}

constexpr std::size_t kRun = 64;  // ranges are whole registers

constexpr std::string_view kHiddenLegend = "batch pos d_mlp";

// a = a · b
void multiply_by(const MutableTensorView& a, const TensorView& b) {
  constexpr std::size_t kWork = 4;
  parallel_ranges(a.elements(), kWork, kRun, [&](std::size_t first, std::size_t end) {
    kernels::multiply(a.f32() + first, b.f32() + first, a.f32() + first, end - first);
  });
}

}  // namespace

std::optional<Activation> activation_named(std::string_view name) {
  return find(std::span(kNames).subspan(2), name);
}

std::optional<Activation> elementwise_named(std::string_view name) { return find(kNames, name); }

void apply(Activation activation, float* x, std::size_t count) {
  constexpr std::size_t kWork = 16;  // cost of an exponential or an error function
  const Linear::Elementwise kernel = kernel_of(activation);
  if (kernel == nullptr) return;
  parallel_ranges(count, kWork, kRun, [&](std::size_t first, std::size_t end) {
    kernel(x + first, x + first, end - first);
  });
}

FeedForward::FeedForward(const WeightScope& scope, const FeedForwardConfig& config)
    : config_(config) {
  if (config.router.experts != 0) {
    mixture_ = MixtureOfExperts::loaded(scope, config);
    return;
  }
  up_ = Linear(scope / "up_proj", config.d_model, config.d_hidden, config.bias);
  down_ = Linear(scope / "down_proj", config.d_hidden, config.d_model, config.bias);
  if (config.gate == Gate::present) {
    gate_ = Linear(scope / "gate_proj", config.d_model, config.d_hidden, config.bias);
  }
}

void FeedForward::forward(const TensorView& x, const MutableTensorView& output,
                          const Context& context, Write write) const {
  if (mixture_ != nullptr) return mixture_->forward(x, output, context, write);
  Arena::Frame frame(context.arena);
  const Shape shape{x.dim(0), x.dim(1), config_.d_hidden};
  const MutableTensorView hidden = context.arena.take(shape);
  const bool gated = config_.gate == Gate::present;
  const auto offer = [&](std::string_view hook, const MutableTensorView& value) {
    if (!config_.is_expert) context.trace(hook, value, kHiddenLegend);
  };
  if (context.trace.keeps() || context.trace.wants("hook_pre")) {
    (gated ? gate_ : up_).forward(x, hidden);
    offer("hook_pre", hidden);
    context.trace.keep("pre", hidden);
    apply(config_.activation, hidden.f32(), hidden.elements());
  } else {
    (gated ? gate_ : up_).forward(x, hidden, kernel_of(config_.activation));
  }
  if (gated) {
    const MutableTensorView linear = context.arena.take(shape);
    up_.forward(x, linear);
    offer("hook_pre_linear", linear);
    context.trace.keep("linear", linear);
    multiply_by(hidden, linear);
  }
  offer("hook_post", hidden);
  if (context.trace.keeps_inputs() && context.trace.edits("hook_post")) {
    context.trace.keep("post", hidden);
  }
  down_.forward(hidden, output, write);
}

void FeedForward::backward(const TensorView& x, const TensorView& d_out,
                           const MutableTensorView& dx, Write write, const Context& context) const {
  if (mixture_ != nullptr) return mixture_->backward(x, d_out, dx, write, context);
  const TraceScope& trace = context.trace;
  WeightGradients* const weights = trace.weights();
  Arena::Frame frame(context.arena);
  const bool gated = config_.gate == Gate::present;
  const auto offer_back = [&](std::string_view hook, const MutableTensorView& gradient) {
    if (!config_.is_expert) trace.back(hook, gradient, kHiddenLegend);
  };
  const TensorView pre = trace.kept("pre");
  const TensorView linear = gated ? trace.kept("linear") : TensorView();
  const MutableTensorView dh = context.arena.take(pre.shape());
  const MutableTensorView activated = context.arena.take(pre.shape());
  const MutableTensorView hidden = gated ? context.arena.take(pre.shape()) : activated;
  if (gated || weights != nullptr) {
    std::memcpy(activated.data(), pre.data(), pre.bytes());
    apply(config_.activation, activated.f32(), activated.elements());
  }
  if (gated) {
    std::memcpy(hidden.data(), activated.data(), activated.bytes());
    multiply_by(hidden, linear);
  }
  const TensorView in =
      weights != nullptr && trace.has_kept("post") ? trace.kept("post") : TensorView(hidden);
  down_.backward(in, d_out, dh, Write::over, weights, context.arena);
  offer_back("hook_post", dh);
  if (gated) {
    multiply_by(activated, dh);
    offer_back("hook_pre_linear", activated);
    up_.backward(x, activated, dx, write, weights, context.arena);
    multiply_by(dh, linear);
  }
  apply_derivative(config_.activation, pre.f32(), dh.f32(), dh.elements());
  offer_back("hook_pre", dh);
  (gated ? gate_ : up_).backward(x, dh, dx, gated ? Write::onto : write, weights, context.arena);
}

}  // namespace clearformer
