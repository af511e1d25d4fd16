// Border functions: generation, one token a call.

#include "bindings/functions.h"

namespace clearformer::bindings {

using emscripten::val;

val generation_create(const Arguments& arguments) {
  auto open = handles().get<OpenModel>(arguments.handle("model"), "model");
  GenerationConfig config = open->defaults;
  const ConfigReader options(arguments.json("options"), "generate", ErrorCode::invalid_argument);
  config.update(options, GenerationConfig::Unknown::refuse);
  const Tensor ids = arguments.integers("input_ids");
  Tensor mask;
  TensorView mask_view;
  if (arguments.has("attention_mask")) mask_view = mask = arguments.flags("attention_mask");
  Generation generation(open->model, ids, mask.empty() ? nullptr : &mask_view, std::move(config));
  val result = val::object();
  result.set("generation", handles().add(std::make_shared<OpenGeneration>(
                               OpenGeneration{std::move(open), std::move(generation)})));
  return result;
}

val generation_step(const Arguments& arguments) {
  const auto open = handles().get<OpenGeneration>(arguments.handle("generation"), "generation");
  Observation observation(arguments);
  const Generation::Step step = open->generation.next(observation.trace());
  val result = val::object();
  result.set("done", step.done);
  result.set("token_ids",
             to_value(TensorView(step.tokens.data(), DType::i32, {step.tokens.size()})));
  if (arguments.flag("output_scores")) result.set("scores", to_value(step.scores));
  if (arguments.flag("output_logits")) result.set("logits", to_value(step.logits));
  observation.report(result);
  return result;
}

val generation_cache(const Arguments& arguments) {
  const auto open = handles().get<OpenGeneration>(arguments.handle("generation"), "generation");
  val result = val::object();
  // The cache lives inside the generation and keeps it alive.
  result.set("past_key_values",
             handles().add(std::shared_ptr<KeyValueCache>(open, &open->generation.cache())));
  return result;
}

}  // namespace clearformer::bindings
