#include "clearformer/modules/module.h"

#include <algorithm>

#include "clearformer/modules/factories.h"

namespace clearformer {

TensorView Module::Inputs::tensor(std::string_view name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    fail(ErrorCode::invalid_argument, "forward: \"", name, "\" is missing");
  return found->second;
}

Mask Module::Inputs::mask(std::string_view name) const {
  const auto found = masks.find(name);
  return found == masks.end() ? Mask() : found->second;
}

Shape modules::shape_option(const ConfigReader& options, std::string_view key) {
  const Json* value = options.root().find_set(key);
  if (value == nullptr || !value->is_array()) return {options.size(key)};
  Shape shape;
  for (const Json& dim : value->array()) {
    const auto size = dim.unsigned_integer();
    if (!size || *size == 0) options.refuse_must(key, "hold sizes >= 1");
    shape.append(static_cast<std::size_t>(*size));
  }
  if (shape.rank() == 0) options.refuse_must(key, "hold at least one size");
  return shape;
}

namespace {

void check_options(const modules::Factory& factory, const ConfigReader& options) {
  for (const auto& [key, value] : options.root().object()) {
    const auto& known = factory.options;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      options.refuse(ErrorCode::unsupported, key, "is no option of ", factory.kind);
    }
  }
}

}  // namespace

std::unique_ptr<Module> Module::make(std::string_view kind, const ConfigReader& options,
                                     Weights weights) {
  for (const modules::Library& library : {modules::torch_library(), modules::d2l_library(),
                                          modules::sentence_transformers_library()}) {
    for (const modules::Factory* factory = library.begin; factory != library.end; ++factory) {
      if (factory->kind != kind) continue;
      check_options(*factory, options);
      const NameMap names = library.names(kind, options);
      auto module = factory->make(options, WeightScope(weights, names));
      weights.check(Weights::Unexpected::refuse);
      return module;
    }
  }
  fail(ErrorCode::unsupported, "module \"", kind, "\" does not exist");
}

}  // namespace clearformer
