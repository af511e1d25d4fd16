// The modules of sentence-transformers with weights: Dense, y = act(x·Wᵀ + b), which follows pooling.
// Source: sentence_transformers.models.Dense. Shapes: x (…, in), y (…, out).

#include <cctype>

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

std::unique_ptr<Module> dense(const ConfigReader& options, const WeightScope& scope) {
  return linear_module("sentence_transformers.Dense", activation_of_class(options), options,
                       scope / "linear");
}

NameMap own_names(std::string_view, const ConfigReader&) { return NameMap(); }

const Factory kSentenceFactories[] = {
    {"sentence_transformers.Dense", "in_features out_features bias activation_function", "input",
     dense},
};

}  // namespace

Library sentence_transformers_library() {
  return {std::begin(kSentenceFactories), std::end(kSentenceFactories), own_names};
}

}  // namespace clearformer::modules
