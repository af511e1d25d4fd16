// Bindings: optimisers of a model's weights or of those of an adapter. The weights, their gradients and the optimiser's
// state stay here.

#include "bindings/functions.h"
#include "bindings/open_pass.h"
#include "clearformer/tensor/pattern.h"

namespace clearformer::bindings {

using emscripten::val;

// A pass of an optimiser in progress, whose sums are the optimiser's while it lasts.
struct OpenBackward {
  OpenBackward(const Arguments& arguments, OpenOptimizer& open);
  OpenBackward(const OpenBackward&) = delete;
  ~OpenBackward() { std::swap(optimizer.gradients, gradient.weights()); }

  OpenOptimizer& optimizer;
  GivenInputs given;
  Gradient gradient;
  Trace trace;
  bool back = false;  // whether the forward pass is complete
  PassCount counted;
  std::unique_ptr<ForwardPass> pass;
};

namespace {

// Whether transformers does not train a tensor of the checkpoint: the bias that BART and its kin add to the logits, and
// the sinusoids of Pegasus and of Whisper's encoder.
bool is_buffer(const Model& model, std::string_view name) {
  if (!name.ends_with("embed_positions.weight")) return name.ends_with("final_logits_bias");
  const std::string& type = model.config().model_type;
  return type == "pegasus" || (type == "whisper" && name.find("encoder.") != name.npos);
}

// Those that the patterns name; each pattern names some. A buffer has to be named without a `*`.
std::vector<Parameter> chosen(const Model& model, const Parameters& all,
                              const std::vector<std::string>& patterns) {
  std::vector<Parameter> parameters;
  std::vector<std::uint8_t> taken(all.all().size());
  for (const std::string& pattern : patterns) {
    bool some = false;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const std::string& name = all.all()[i].stored.name;
      if (!matches_pattern(name, pattern) || (name != pattern && is_buffer(model, name))) continue;
      some = true;
      if (!taken[i]) parameters.push_back(all.all()[i]);
      taken[i] = true;
    }
    if (!some) fail(ErrorCode::invalid_argument, "optimiser: no weight is named \"", pattern, "\"");
  }
  return parameters;
}

std::unique_ptr<Optimizer> optimizer_in(const Arguments& arguments,
                                        const std::vector<Parameter>& parameters) {
  const auto number = [&](const char* key) { return arguments.number(key); };
  if (arguments.text("kind") == "SGD") {
    return std::make_unique<Sgd>(parameters,
                                 SgdOptions{number("lr"), number("momentum"), number("dampening"),
                                            number("weight_decay"), arguments.flag("nesterov")});
  }
  return std::make_unique<AdamW>(
      parameters, AdamWOptions{number("lr"), number("beta1"), number("beta2"), number("eps"),
                               number("weight_decay")});
}

Schedule schedule_in(const Arguments& arguments) {
  const std::string name = arguments.text("schedule");
  Schedule schedule;
  if (name == "linear") schedule.kind = Schedule::Kind::linear;
  if (name == "cosine") schedule.kind = Schedule::Kind::cosine;
  schedule.warmup_steps = arguments.count("warmup_steps");
  schedule.steps = arguments.count("steps");
  return schedule;
}

std::shared_ptr<OpenOptimizer> optimizer_of(const Arguments& arguments) {
  return handles().get<OpenOptimizer>(arguments.handle("optimizer"), "optimiser");
}

// The same for a call that needs its gradients.
std::shared_ptr<OpenOptimizer> ready_optimizer_of(const Arguments& arguments) {
  auto open = optimizer_of(arguments);
  if (!open->ready) {
    fail(ErrorCode::invalid_argument, "optimiser: there are no gradients: backward comes first");
  }
  return open;
}

// Throws if the adapter that is trained was released; another one of its name has other matrices.
void expect_adapter(const OpenOptimizer& open) {
  if (open.adapter.empty()) return;
  const Parameters& own = open.model->model->adapters().parameters(open.adapter);
  for (const Parameter& matrix : own.all()) {
    if (matrix.rows == open.parameters.front().rows) return;
  }
  fail(ErrorCode::invalid_argument, "optimiser: the adapter \"", open.adapter,
       "\" of which it was made was deleted");
}

void expect_adapter_in_force(const OpenOptimizer& open) {
  expect_adapter(open);
  if (open.adapter.empty()) return;
  for (const ActiveAdapter& active : open.model->model->adapters().active()) {
    if (active.name == open.adapter) return;
  }
  fail(ErrorCode::invalid_argument, "optimiser: the adapter \"", open.adapter,
       "\" is not in force and has no gradients: set_adapter comes first");
}

}  // namespace

OpenBackward::OpenBackward(const Arguments& arguments, OpenOptimizer& open)
    : optimizer(open), given(arguments), counted((editable(*open.model), open.model->passes)) {
  expect_adapter_in_force(open);
  gradient.omit_logits();
  gradient.add(LabelLoss{arguments.numbers("labels"),
                         static_cast<float>(arguments.number("label_smoothing")), 1.0f});
  if (open.adapter.empty()) {
    for (const Parameter& parameter : open.parameters) {
      gradient.want_weights(parameter.stored.name);
    }
  } else {
    gradient.want_adapter(open.adapter);
  }
  Model& model = *open.model->model;
  open.ready = false;
  std::swap(open.gradients, gradient.weights());
  try {
    pass = model.start_gradient(given.inputs, trace, gradient);
  } catch (...) {
    std::swap(open.gradients, gradient.weights());
    throw;
  }
}

val optimizer_create(const Arguments& arguments) {
  auto open = std::make_shared<OpenOptimizer>();
  open->model = model_of(arguments);
  const Model& model = *open->model->model;
  if (arguments.has("adapter")) open->adapter = arguments.text("adapter");
  const Parameters& all =
      open->adapter.empty() ? model.parameters() : model.adapters().parameters(open->adapter);
  open->parameters = chosen(model, all, arguments.texts("parameters"));
  open->schedule = schedule_in(arguments);
  open->optimizer = optimizer_in(arguments, open->parameters);
  std::size_t numbers = 0;
  for (const Parameter& parameter : open->parameters) {
    open->gradients.want(parameter);
    numbers += parameter.rows->outputs() * parameter.rows->inputs();
  }
  val result = val::object();
  put(result, "optimizer", handles().add(open));
  put(result, "numbers", numbers);
  handles().note_peak();
  return result;
}

val optimizer_backward(const Arguments& arguments) {
  const auto open = optimizer_of(arguments);
  if (arguments.flag("abandon")) {
    open->pass.reset();
    return val::object();
  }
  const Pace pace(arguments);
  const auto pass = differentiated(
      open->pass, pace, [&] { return std::make_shared<OpenBackward>(arguments, *open); });
  if (!pass) return Pace::pending();
  pass->gradient.check_all_met();
  open->ready = true;
  handles().note_peak();
  val result = val::object();
  put(result, "loss", pass->gradient.value());
  return result;
}

val optimizer_clip(const Arguments& arguments) {
  const auto open = ready_optimizer_of(arguments);
  val result = val::object();
  put(result, "norm",
      open->optimizer->clip_grad_norm(open->gradients, arguments.number("max_norm")));
  return result;
}

val optimizer_step(const Arguments& arguments) {
  const auto open = ready_optimizer_of(arguments);
  editable(*open->model);
  expect_adapter(*open);
  Optimizer& optimizer = *open->optimizer;
  const double rate = arguments.number("lr") * open->schedule.factor(open->steps);
  optimizer.learning_rate = rate;
  optimizer.step(open->gradients);
  ++open->steps;
  handles().note_peak();
  val result = val::object();
  put(result, "lr", rate);
  return result;
}

}  // namespace clearformer::bindings
