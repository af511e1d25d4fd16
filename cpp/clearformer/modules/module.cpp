#include "clearformer/modules/module.h"

#include <algorithm>

#include "clearformer/modules/factories.h"
#include "clearformer/tensor/pattern.h"

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

void Module::differentiate(Trace& trace, Gradient& gradient) const {
  gradient.begin_layers();
  for (const std::size_t edit : gradient.wanted_edits()) trace.edit_with_value(edit);
  for (const std::string& pattern : gradient.wanted_weights()) {
    bool met = false;
    for (const Parameter& parameter : parameters_) {
      if (!matches_pattern(parameter.stored.name, pattern)) continue;
      gradient.weights().want(parameter);
      met = true;
    }
    if (!met) {
      fail(ErrorCode::invalid_argument, "gradient: no weight is called \"", pattern, "\"");
    }
  }
  trace.differentiate(&gradient);
}

namespace {

// Names, types and dims, by which backward() knows that it has the inputs of the forward pass.
std::string text_of(const Module::Inputs& inputs) {
  std::string text;
  for (const auto& [name, tensor] : inputs.tensors) {
    text += concat(" ", name, " ", to_string(tensor.dtype()), tensor.shape().text());
  }
  return text;
}

}  // namespace

void Module::check_names(const Inputs& inputs) const {
  const std::string known = concat(" ", factory_->inputs, ",");
  const auto expect = [&](const std::string& name, bool mask) {
    if (name.ends_with("mask") == mask && name.find(',') == std::string::npos &&
        known.find(concat(" ", name, ",")) != std::string::npos) {
      return;
    }
    fail(ErrorCode::unsupported, factory_->kind, " takes no ", mask ? "mask" : "tensor", " \"",
         name, "\", but ", factory_->inputs);
  };
  for (const auto& [name, tensor] : inputs.tensors) expect(name, false);
  for (const auto& [name, mask] : inputs.masks) expect(name, true);
}

Tensor Module::forward(const Inputs& inputs, Trace* trace) {
  check_names(inputs);
  const Context context{arena_, TraceScope(trace)};
  if (context.trace.keeps()) {
    const std::string text = text_of(inputs);
    context.trace.keep("inputs", {text.data(), DType::u8, {text.size()}});
  }
  return forward(inputs, context);
}

Module::Gradients Module::backward(const Inputs& inputs, const TensorView& d_output, Trace& trace) {
  if (trace.gradient() == nullptr || !trace.gradient()->keeping()) {
    fail(ErrorCode::invalid_argument,
         "backward: the trace is not that of a differentiated forward pass");
  }
  check_names(inputs);
  const Trace::Differentiation differentiation = trace.differentiation();
  const Context context{arena_, TraceScope(&trace)};
  const TensorView kept = context.trace.kept("inputs");
  const std::string_view earlier(static_cast<const char*>(kept.data()), kept.elements());
  if (const std::string text = text_of(inputs); text != earlier) {
    fail(ErrorCode::shape_mismatch, "backward: the inputs", text, ", those of forward were",
         earlier);
  }
  Gradients gradients = backward(inputs, d_output, context);
  trace.gradient()->release(0);
  return gradients;
}

// The rows of a key's weights, several of which may be stacked, at their places.
template <class RowsOf>
Tensor Module::read(std::string_view key, const RowsOf& rows_of) const {
  Tensor whole;
  for (const Parameter& parameter : parameters_) {
    if (parameter.stored.name != key) continue;
    const std::shared_ptr<WeightRows> rows = rows_of(parameter);
    if (whole.empty()) whole = Tensor::zeros(parameter.stored_shape);
    const RowRuns& places = parameter.places;
    for (std::size_t i = 0; i < rows->outputs(); ++i) {
      const std::size_t row = places.first + i / places.count * places.stride + i % places.count;
      rows->copy_row(i, whole.f32() + row * rows->inputs());
    }
  }
  if (!whole.empty()) return whole;
  fail(ErrorCode::invalid_argument, "module: there is no weight \"", key, "\"");
}

Tensor Module::weight(std::string_view key) const {
  return read(key, [](const Parameter& parameter) { return parameter.rows; });
}

Tensor Module::weight_gradient(const Gradient& gradient, std::string_view key) const {
  return read(key, [&](const Parameter& parameter) {
    auto rows = gradient.weights().rows(parameter);
    if (rows != nullptr) return rows;
    fail(ErrorCode::invalid_argument, "gradient: that of \"", key, "\" was not asked for");
  });
}

Module::Gradients modules::gradients_of(std::initializer_list<NamedGradient> named) {
  Module::Gradients gradients;
  for (const NamedGradient& each : named) gradients.emplace(each.name, std::move(each.gradient));
  return gradients;
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

Shape modules::with_features(std::string_view kind, const TensorView& x, std::size_t features) {
  Shape shape = x.shape();
  if (shape.rank() == 0) fail(ErrorCode::shape_mismatch, kind, ": a scalar has no features");
  shape[shape.rank() - 1] = features;
  return shape;
}

Shape modules::normalized_rows(std::string_view what, const TensorView& x,
                               const Shape& normalized) {
  const Shape& shape = x.shape();
  bool fits = shape.rank() >= normalized.rank();
  for (std::size_t axis = 0; fits && axis < normalized.rank(); ++axis) {
    fits = shape[shape.rank() - normalized.rank() + axis] == normalized[axis];
  }
  if (!fits) {
    fail(ErrorCode::shape_mismatch, what, ": the last axes of shape ", shape.text(), " must be ",
         normalized.text());
  }
  return {x.elements() / normalized.elements(), normalized.elements()};
}

namespace {

void check_options(const modules::Factory& factory, const ConfigReader& options) {
  const std::vector<std::string_view> known = split(factory.options);
  for (const auto& [key, value] : options.root().object()) {
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
      module->factory_ = factory;
      module->parameters_ = weights.take_parameters();
      return module;
    }
  }
  fail(ErrorCode::unsupported, "module \"", kind, "\" does not exist");
}

}  // namespace clearformer
