// Bindings: the classes of torch.nn and d2l.ai.

#include "clearformer/modules/module.h"

#include "bindings/observation.h"

namespace clearformer::bindings {

using emscripten::val;

Weights weights_of(int checkpoint) {
  const auto reader = handles().get<CheckpointReader>(checkpoint, "checkpoint");
  handles().release(checkpoint);
  return reader->finish();
}

val module_create(const Arguments& arguments) {
  Weights weights;
  if (arguments.has("checkpoint")) weights = weights_of(arguments.handle("checkpoint"));
  for (auto& [name, tensor] : arguments.tensors("tensors")) {
    weights.add(name, "state_dict", std::move(tensor));
  }
  const std::string kind = arguments.text("kind");
  const ConfigReader options(arguments.json("options"), kind, ErrorCode::invalid_argument);
  val result = val::object();
  put(result, "module",
      handles().add(std::shared_ptr<Module>(Module::make(kind, options, std::move(weights)))));
  return result;
}

val module_forward(const Arguments& arguments) {
  const auto module = handles().get<Module>(arguments.handle("module"), "module");
  const std::map<std::string, Tensor> tensors = arguments.tensors("tensors");
  Module::Inputs inputs;
  for (const auto& [name, tensor] : tensors) inputs.tensors.emplace(name, tensor.view());
  inputs.masks = arguments.masks("masks");
  Observation observation(arguments.texts("names"));
  const Tensor output = module->forward(inputs, observation.trace());
  val result = val::object();
  put(result, "output", to_value(output));
  observation.report(result);
  return result;
}

}  // namespace clearformer::bindings
