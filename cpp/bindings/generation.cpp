// Bindings: generation, one token per call.

#include "bindings/functions.h"
#include "bindings/inputs.h"
#include "bindings/observation.h"
#include "bindings/pace.h"

namespace clearformer::bindings {

using emscripten::val;

OpenGeneration::OpenGeneration(std::shared_ptr<OpenModel> open,
                               std::shared_ptr<KeyValueCache> given, const ModelInputs& inputs,
                               GenerationConfig&& config, std::unique_ptr<Observation> observed)
    : model(std::move(open)),
      cache(std::move(given)),
      observation(std::move(observed)),
      generation(*model->model, inputs, std::move(config)) {}

OpenGeneration::~OpenGeneration() = default;

namespace {

std::shared_ptr<OpenGeneration> generation_of(const Arguments& arguments) {
  return handles().get<OpenGeneration>(arguments.handle("generation"), "generation");
}

val answer_of(const Arguments& arguments, const Generation::Step& step) {
  val result = val::object();
  put(result, "done", step.done);
  put(result, "token_ids",
      to_value(TensorView(step.tokens.data(), DType::i32, {step.tokens.size()})));
  if (!step.beam_indices.empty()) {
    const Shape rows{step.beam_indices.size()};
    put(result, "beam_indices", to_value(TensorView(step.beam_indices.data(), DType::i32, rows)));
    put(result, "beam_scores", to_value(TensorView(step.beam_scores.data(), DType::f32, rows)));
  }
  if (arguments.flag("output_scores")) put(result, "scores", to_value(step.scores));
  if (arguments.flag("output_logits")) put(result, "logits", to_value(step.logits));
  return result;
}

}  // namespace

val generation_create(const Arguments& arguments) {
  auto model = handles().get<OpenModel>(arguments.handle("model"), "model");
  GenerationConfig config = model->defaults;
  if (arguments.has("generation_config")) {
    const ConfigReader changed(arguments.text("generation_config"), "generation_config",
                               ErrorCode::invalid_argument);
    config.update(changed, GenerationConfig::Unknown::ignore_of_caller);
  }
  const ConfigReader options(arguments.json("options"), "generate", ErrorCode::invalid_argument);
  config.update(options, GenerationConfig::Unknown::refuse);
  // Else it would be the model's: here null is none, and so is what no file says.
  if (!config.decoder_start_token_id) config.decoder_start_token_id = config.bos_token_id;
  const GivenInputs given(arguments);
  val result = val::object();
  put(result, "num_beams", config.num_beams);
  put(result, "eos_token_ids", to_value(config.eos_token_ids));
  auto observation = std::make_unique<Observation>(arguments, lists_in(arguments, *model->model));
  Trace* const trace = observation->trace();
  auto open = std::make_shared<OpenGeneration>(std::move(model), given.cache, given.inputs,
                                               std::move(config), std::move(observation));
  if (arguments.flag("hold_scores")) open->generation.hold_scores();
  if (trace != nullptr) trace->watch_steps(open->generation.steps());
  put(result, "num_sequences", open->generation.returned());
  put(result, "prompt", to_value(open->generation.sequences()));
  if (const GenerationWarning& warning = open->generation.warning(); warning.code != nullptr) {
    val told = val::object();
    put(told, "code", to_value(warning.code));
    put(told, "message", to_value(warning.message));
    put(result, "warning", told);
  }
  put(result, "generation", handles().add(std::move(open)));
  return result;
}

val generation_step(const Arguments& arguments) {
  const auto open = generation_of(arguments);
  if (arguments.flag("abandon")) {
    open->generation.abandon();
    open->observation->forget();
    return val::object();
  }
  const Pace pace(arguments);
  if (arguments.has("changed_scores")) {
    open->generation.step().scores = arguments.floats("changed_scores");
  }
  try {
    while (!open->generation.advance(open->observation->trace())) {
      if (pace.over()) return Pace::pending();
    }
  } catch (...) {
    open->observation->forget();
    throw;
  }
  if (open->generation.held()) {
    val result = val::object();
    put(result, "held_scores", to_value(open->generation.step().scores));
    return result;
  }
  const Generation::Step step = std::move(open->generation.step());
  val result = answer_of(arguments, step);
  open->observation->report(result);
  handles().note_peak();
  return result;
}

val generation_end(const Arguments& arguments) {
  const auto open = generation_of(arguments);
  const Tensor rows = arguments.integers("rows");
  for (std::size_t i = 0; i < rows.elements(); ++i) {
    open->generation.end(static_cast<std::size_t>(rows.view().as<std::int32_t>()[i]));
  }
  val result = val::object();
  put(result, "done", open->generation.done());
  return result;
}

val generation_result(const Arguments& arguments) {
  const auto open = generation_of(arguments);
  const Generation& generation = open->generation;
  val result = val::object();
  put(result, "sequences", to_value(generation.sequences()));
  const Tensor scores = generation.sequences_scores();
  if (scores.empty()) return result;
  put(result, "sequences_scores", to_value(scores));
  put(result, "beam_indices", to_value(generation.beam_indices()));
  return result;
}

val generation_cache(const Arguments& arguments) {
  const auto open = generation_of(arguments);
  val result = val::object();
  // The generation keeps a cache of its own alive.
  put(result, "past_key_values",
      handles().add(std::shared_ptr<KeyValueCache>(open, &open->generation.cache())));
  return result;
}

}  // namespace clearformer::bindings
