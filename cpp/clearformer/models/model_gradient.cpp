#include "clearformer/models/model.h"
#include "clearformer/tensor/pattern.h"
#include "clearformer/tensor/typed_memory.h"

namespace clearformer {

namespace {

// Token embeddings are sought in the scope of their tower, also where ids are given.
constexpr std::string_view kInputsSought[] = {"pixel_values",          "input_features",
                                              "inputs_embeds",         "encoder.inputs_embeds",
                                              "decoder.inputs_embeds", "text_model.inputs_embeds"};

// Asks for a weight's parameters.
void want_weight(const Parameter& parameter, Gradient& gradient, std::vector<std::string>& places) {
  gradient.weights().want(parameter);
  places.push_back(parameter.path);
}

}  // namespace

bool ForwardPass::step_back() {
  fail(ErrorCode::unsupported, "gradient: this kind of model has none");
}

// The hook points, inputs and weights whose gradients are sought.
std::vector<std::string> Model::sought_places(const Trace& trace, Gradient& gradient) {
  std::vector<std::string> places;
  for (const std::size_t edit : gradient.wanted_edits()) {
    const Edit* data = trace.edit_at(edit);
    if (data == nullptr || data->value.empty()) {
      fail(ErrorCode::invalid_argument, "gradient: edit ", edit, " has no value");
    }
    for (const HookPoint& hook : hooks()) {
      if (selects(data->hook, hook.name)) places.push_back(hook.name);
    }
  }
  for (const HookPoint& hook : hooks()) {
    if (is_on_request(hook.name) && (gradient.changes(hook.name) || trace.edits(hook.name))) {
      fail(ErrorCode::unsupported, "gradient: ", hook.name,
           " is read only: no edits, functions or read-outs there in a differentiated pass");
    }
    if (gradient.seeks(hook.name)) places.push_back(hook.name);
  }
  for (const std::string_view input : kInputsSought) {
    if (gradient.seeks(input)) places.emplace_back(input);
  }
  for (const std::string& name : gradient.wanted_adapters()) {
    for (const Parameter& matrix : adapters_.parameters(name).all())
      gradient.weights().want(matrix);
    for (const std::string& path : adapters_.layers(name)) places.push_back(path);
  }
  for (const std::string& name : gradient.wanted_weights()) {
    if (name.find('*') == std::string::npos) {
      for (const ParameterView::Piece& piece : parameter(name).pieces) {
        want_weight(*piece.parameter, gradient, places);
      }
      continue;
    }
    for (const Parameter& parameter : parameters_.all()) {
      if (matches_pattern(parameter.stored.name, name)) want_weight(parameter, gradient, places);
    }
  }
  return places;
}

std::unique_ptr<ForwardPass> Model::start_gradient(const ModelInputs& inputs, Trace& trace,
                                                   Gradient& gradient) {
  if (inputs.cache != nullptr) {
    fail(ErrorCode::unsupported,
         "gradient: past_key_values are not differentiated; give the whole ", "sequence");
  }
  gradient.begin(sought_places(trace, gradient));
  trace.differentiate(&gradient);
  return start(inputs, &trace);
}

ModelOutputs Model::gradient(const ModelInputs& inputs, Trace& trace, Gradient& gradient) {
  return typed_memory([&] {
    const std::unique_ptr<ForwardPass> pass = start_gradient(inputs, trace, gradient);
    while (pass->step()) continue;
    while (pass->step_back()) continue;
    gradient.check_all_met();
    return std::move(pass->outputs());
  });
}

Tensor Model::weight_gradient(const Gradient& gradient, std::string_view name) const {
  ParameterView view = parameter(name);
  std::vector<Parameter> sums;
  sums.reserve(view.pieces.size());
  for (ParameterView::Piece& piece : view.pieces) {
    sums.push_back(*piece.parameter);
    sums.back().rows = gradient.weights().rows(*piece.parameter);
    if (sums.back().rows == nullptr) {
      fail(ErrorCode::invalid_argument, "gradient: that of \"", name, "\" was not asked for");
    }
    piece.parameter = &sums.back();
    piece.scale = 1.0f / piece.scale;
    piece.shift = 0.0f;
  }
  return Parameters::read(view);
}

}  // namespace clearformer
