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

namespace {

// A call of a module, and what is captured and edited in it.
struct ModuleCall {
  explicit ModuleCall(const Arguments& arguments)
      : module(handles().get<Module>(arguments.handle("module"), "module")),
        tensors(arguments.tensors("tensors")),
        observation(arguments) {
    for (const auto& [name, tensor] : tensors) inputs.tensors.emplace(name, tensor.view());
    inputs.masks = arguments.masks("masks");
  }
  // Calls forward().
  val run(Trace* trace) {
    const Tensor output = module->forward(inputs, trace);
    shape = output.shape();
    if (trace != nullptr) trace->check_all_met();
    val result = val::object(), legends = val::object();
    put(result, "output", to_value(output));
    for (const Trace::Captured& entry : observation.needed_trace().captured()) {
      legends.set(to_value(entry.name), to_value(entry.legend));
    }
    put(result, "legends", legends);
    observation.report(result);
    return result;
  }

  std::shared_ptr<Module> module;
  std::map<std::string, Tensor> tensors;
  Module::Inputs inputs;
  Observation observation;
  Shape shape;  // of the output
};

}  // namespace

val module_forward(const Arguments& arguments) {
  ModuleCall call(arguments);
  return call.run(call.observation.trace());
}

val module_backward(const Arguments& arguments) {
  ModuleCall call(arguments);
  const Tensor d_output = arguments.floats("grad_output");
  Gradient gradient;
  read_wanted(arguments, gradient);
  Trace& trace = call.observation.needed_trace();
  call.module->differentiate(trace, gradient);
  val result = call.run(&trace), inputs = val::object(), weights = val::object();
  if (!(d_output.shape() == call.shape)) {
    fail(ErrorCode::shape_mismatch, "backward: grad_output of shape ", d_output.shape().text(),
         ", expected ", call.shape.text());
  }
  for (const auto& [name, tensor] : call.module->backward(call.inputs, d_output, trace)) {
    inputs.set(to_value(name), to_value(tensor));
  }
  gradient.check_all_met();
  for (const Parameter& parameter : call.module->parameters()) {
    if (gradient.weights().rows(parameter) == nullptr) continue;
    const std::string& key = parameter.stored.name;
    weights.set(to_value(key), to_value(call.module->weight_gradient(gradient, key)));
  }
  put(result, "inputs", inputs);
  put(result, "weights", weights);
  report_gradient(arguments, gradient, result);
  handles().note_peak();
  return result;
}

}  // namespace clearformer::bindings
