#include "clearformer/models/config.h"

namespace clearformer {

namespace {
constexpr const Architecture* kKnown[] = {&kLlama};
}

const Architecture& architecture_of(const ConfigReader& config) {
  const std::string model_type = config.text("model_type");
  std::string known;
  for (const Architecture* architecture : kKnown) {
    if (architecture->model_type == model_type) return *architecture;
    known += concat(known.empty() ? "" : ", ", architecture->model_type);
  }
  config.refuse(ErrorCode::unsupported, "model_type", "is \"", model_type,
                "\"; supported: ", known);
}

}  // namespace clearformer
