// Bindings: LoRA adapters of a model.

#include "bindings/functions.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

// A matrix of any shape; the model's layers state what they expect.
Tensor taken(Weights& weights, const std::string& name) {
  const Shape* shape = weights.shape(name);
  return weights.take({name}, shape == nullptr ? Shape{0} : *shape);
}

}  // namespace

val adapter_add(const Arguments& arguments) {
  const auto open = model_of(arguments);
  Model& model = editable(*open);
  Weights weights = weights_of(arguments.handle("checkpoint"));
  std::vector<AdapterUpdate> updates;
  for (const Arguments& given : arguments.objects("updates")) {
    const std::string name = given.text("name");
    updates.push_back({given.text("weight"), name, taken(weights, name + ".lora_A.weight"),
                       taken(weights, name + ".lora_B.weight"),
                       static_cast<float>(given.number("scale"))});
  }
  weights.check(Weights::Unexpected::keep);  // what the plan leaves out is not read
  model.add_adapter(arguments.text("adapter"), std::move(updates));
  handles().note_peak();
  return val::object();
}

val adapter_use(const Arguments& arguments) {
  const auto open = model_of(arguments);
  std::vector<ActiveAdapter> active;
  for (const Arguments& given : arguments.objects("adapters")) {
    active.push_back({given.text("adapter"), static_cast<float>(given.number("scale"))});
  }
  editable(*open).use_adapters(std::move(active));
  return val::object();
}

val adapter_remove(const Arguments& arguments) {
  const auto open = model_of(arguments);
  editable(*open).remove_adapter(arguments.text("adapter"));
  return val::object();
}

}  // namespace clearformer::bindings
