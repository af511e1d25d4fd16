#include "clearformer/layers/feed_forward.h"

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

std::optional<Activation> activation_named(std::string_view name) {
  if (name == "relu") return Activation::relu;
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name == "gelu") return Activation::gelu_erf;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast" ||
      name == "gelu_accurate" || name == "gelu_python_tanh") {
    return Activation::gelu_tanh;
  }
  if (name == "quick_gelu") return Activation::quick_gelu;
  if (name == "tanh") return Activation::tanh;
  return std::nullopt;
}

namespace {

Linear::Elementwise kernel_of(Activation activation) {
  switch (activation) {
    case Activation::relu: return kernels::relu;
    case Activation::silu: return kernels::silu;
    case Activation::gelu_erf: return kernels::gelu_erf;
    case Activation::gelu_tanh: return kernels::gelu_tanh;
    case Activation::quick_gelu: return kernels::quick_gelu;
    default: return kernels::hyperbolic_tangent;
  }
}

constexpr std::size_t kRun = 64;  // runs of elements are whole registers

// a = a · b
void multiply_by(MutableTensorView a, TensorView b) {
  constexpr std::size_t kWork = 4;
  parallel_ranges(a.elements(), kWork, kRun, [&](std::size_t first, std::size_t end) {
    kernels::multiply(a.f32() + first, b.f32() + first, a.f32() + first, end - first);
  });
}

}  // namespace

void apply(Activation activation, float* x, std::size_t count) {
  constexpr std::size_t kWork = 16;  // of an exponential or an error function
  parallel_ranges(count, kWork, kRun, [&](std::size_t first, std::size_t end) {
    kernel_of(activation)(x + first, x + first, end - first);
  });
}

FeedForward::FeedForward(const WeightScope& scope, const FeedForwardConfig& config)
    : config_(config),
      up_(scope / "up_proj", config.d_model, config.d_hidden, config.bias),
      down_(scope / "down_proj", config.d_hidden, config.d_model, config.bias) {
  if (config.gate == Gate::present) {
    gate_ = Linear(scope / "gate_proj", config.d_model, config.d_hidden, config.bias);
  }
}

void FeedForward::forward(TensorView x, MutableTensorView output, const Context& context,
                          Write write) const {
  constexpr std::string_view kLegend = "batch pos d_mlp";
  Arena::Frame frame(context.arena);
  const Shape shape{x.dim(0), x.dim(1), config_.d_hidden};
  const MutableTensorView hidden = context.arena.take(shape);
  const bool gated = config_.gate == Gate::present;
  if (context.trace.wants("hook_pre")) {
    (gated ? gate_ : up_).forward(x, hidden);
    context.trace("hook_pre", hidden, kLegend);
    apply(config_.activation, hidden.f32(), hidden.elements());
  } else {
    (gated ? gate_ : up_).forward(x, hidden, kernel_of(config_.activation));
  }
  if (gated) {
    const MutableTensorView linear = context.arena.take(shape);
    up_.forward(x, linear);
    context.trace("hook_pre_linear", linear, kLegend);
    multiply_by(hidden, linear);
  }
  context.trace("hook_post", hidden, kLegend);
  down_.forward(hidden, output, write);
}

}  // namespace clearformer
