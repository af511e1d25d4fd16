// Bindings: the gradient of a forward pass (GradientArguments in web/src/runtime/border.ts).

#include "bindings/functions.h"
#include "bindings/open_pass.h"
#include "bindings/pace.h"

namespace clearformer::bindings {

using emscripten::val;

struct OpenGradient : OpenPass {
  OpenGradient(const Arguments& arguments, OpenModel& open);
  Gradient gradient;
  bool back = false;  // whether the forward pass is complete
};

namespace {

std::vector<ReadOut> read_outs(const std::vector<Arguments>& list) {
  std::vector<ReadOut> terms;
  for (const Arguments& given : list)
    terms.push_back({given.text("name"), given.floats("weights")});
  return terms;
}

// Places (N, 3): row, position, token; weights (N).
void read_logits(const Arguments& arguments, Gradient& gradient) {
  if (arguments.has("logit_places")) {
    const Tensor places = arguments.integers("logit_places");
    const Tensor weights = arguments.floats("logit_weights");
    if (places.elements() != 3 * weights.elements()) {
      fail(ErrorCode::shape_mismatch, "logit_places: ", places.elements(), " numbers for ",
           weights.elements(), " weights");
    }
    const std::int32_t* at = places.view().as<std::int32_t>();
    for (std::size_t i = 0; i < weights.elements(); ++i, at += 3) {
      gradient.add(LogitTerm{static_cast<std::size_t>(at[0]), at[1],
                             static_cast<std::size_t>(at[2]), weights.f32()[i]});
    }
  }
}

void read_metric(const Arguments& arguments, Gradient& gradient) {
  for (const Arguments& given : arguments.objects("losses")) {
    gradient.add(LabelLoss{given.numbers("labels"),
                           static_cast<float>(given.number("label_smoothing")),
                           static_cast<float>(given.number("weight"))});
  }
  read_logits(arguments, gradient);
  for (ReadOut& term : read_outs(arguments.objects("output_terms"))) {
    gradient.add_output(std::move(term));
  }
  for (ReadOut& term : read_outs(arguments.objects("hook_terms"))) {
    gradient.add_hook(std::move(term));
  }
}

}  // namespace

OpenGradient::OpenGradient(const Arguments& arguments, OpenModel& open)
    : OpenPass(arguments, open) {
  if (arguments.flag("omit_logits")) gradient.omit_logits();
  if (arguments.has("memory")) {
    const std::string memory = arguments.text("memory");
    if (memory == "keep") gradient.set_memory(Gradient::Memory::keep);
    if (memory == "recompute") gradient.set_memory(Gradient::Memory::recompute);
  }
  read_metric(arguments, gradient);
  read_wanted(arguments, gradient);
  Trace& trace = observation.needed_trace();
  pass = open.model->start_gradient(given.inputs, trace, gradient);
}

bool complete(ForwardPass& pass, bool& back, const Pace& pace) {
  for (bool more = true; more;) {
    more = back ? pass.step_back() : pass.step();
    if (!more && !back) back = more = true;
    if (more && pace.over()) return false;
  }
  return true;
}

val model_gradient(const Arguments& arguments) {
  const auto open = model_of(arguments);
  if (arguments.flag("abandon")) {
    open->gradient.reset();
    return val::object();
  }
  const Pace pace(arguments);
  const auto pass = differentiated(
      open->gradient, pace, [&] { return std::make_shared<OpenGradient>(arguments, *open); });
  if (!pass) return Pace::pending();
  const Gradient& gradient = pass->gradient;
  pass->observation.needed_trace().check_all_met();
  gradient.check_all_met();
  val result = val::object(), weights = val::object();
  put(result, "outputs", pass->outputs());
  put(result, "value", gradient.value());
  for (const std::string& name : arguments.texts("wanted_weights")) {
    weights.set(to_value(name), to_value(open->model->weight_gradient(gradient, name)));
  }
  put(result, "weights", weights);
  report_gradient(arguments, gradient, result);
  pass->observation.report(result);
  handles().note_peak();
  return result;
}

}  // namespace clearformer::bindings
