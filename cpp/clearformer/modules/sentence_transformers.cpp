// The modules of sentence-transformers with weights: Dense, y = act(x·Wᵀ + b), which follows pooling.
// Source: sentence_transformers.models.Dense. Shapes: x (…, in), y (…, out).

#include <cctype>

#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/linear.h"
#include "clearformer/modules/factories.h"

namespace clearformer::modules {

namespace {

// "torch.nn.modules.activation.Tanh", "torch.nn.modules.linear.Identity"
Activation activation_of_class(const ConfigReader& options) {
  constexpr std::string_view kKey = "activation_function";
  const std::string path = options.text(kKey, "torch.nn.modules.activation.Tanh");
  std::string name = path.substr(path.rfind('.') + 1);
  for (char& letter : name) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  const auto activation = activation_named(name == "identity" ? "linear" : name);
  if (!activation) options.refuse(ErrorCode::unsupported, kKey, "is \"", path, "\"");
  return *activation;
}

struct DenseModule {
  Activation activation;
  Linear layer;

  Shape shape(const TensorView& x) const {
    return with_features("sentence_transformers.Dense: input", x, layer.out_features());
  }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const TensorView x = inputs.tensor("input");
    Tensor y(shape(x));
    layer.forward(x, y);
    context.trace.keep("pre", y);
    apply(activation, y.f32(), y.elements());
    return y;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const TensorView x = inputs.tensor("input");
    Tensor d = Tensor::copy_of(expect_gradient(d_output, shape(x))), dx(x.shape());
    apply_derivative(activation, context.trace.kept("pre").f32(), d.f32(), d.elements());
    layer.backward(x, d, dx, Write::over, context.trace.weights(), context.arena);
    return gradients_of(std::pair("input", std::move(dx)));
  }
};

std::unique_ptr<Module> dense(const ConfigReader& options, const WeightScope& scope) {
  const Bias bias = options.flag("bias", true) ? Bias::present : Bias::none;
  return module_of(DenseModule{
      activation_of_class(options),
      Linear(scope / "linear", options.size("in_features"), options.size("out_features"), bias)});
}

NameMap own_names(std::string_view, const ConfigReader&) { return NameMap(); }

const Factory kSentenceFactories[] = {
    {"sentence_transformers.Dense",
     {"in_features", "out_features", "bias", "activation_function"},
     "input",
     dense},
};

}  // namespace

Library sentence_transformers_library() {
  return {std::begin(kSentenceFactories), std::end(kSentenceFactories), own_names};
}

}  // namespace clearformer::modules
