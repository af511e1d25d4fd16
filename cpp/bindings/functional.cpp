// Bindings: functions of tensors.

#include "clearformer/layers/functional.h"

#include "bindings/functions.h"
#include "clearformer/layers/attention_pooling.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

EmptyRow empty_row_of(const Arguments& arguments) {
  const std::string name = arguments.has("empty_row") ? arguments.text("empty_row") : "zeros";
  if (name == "zeros") return EmptyRow::zeros;
  if (name == "uniform") return EmptyRow::uniform;
  fail(ErrorCode::invalid_argument, "empty_row: \"", name, "\" is neither zeros nor uniform");
}

PoolingOptions::Keep keep_of(const Arguments& arguments) {
  using Keep = PoolingOptions::Keep;
  if (!arguments.has("keep")) return Keep::nothing;
  const std::string name = arguments.text("keep");
  if (name == "raw_scores") return Keep::raw_scores;
  if (name == "softcapped_scores") return Keep::softcapped_scores;
  if (name == "masked_scores") return Keep::masked_scores;
  if (name == "weights") return Keep::weights;
  fail(ErrorCode::invalid_argument, "keep: \"", name, "\" is not known");
}

std::size_t last_axes(const Arguments& arguments) { return arguments.count("axes"); }

float eps_of(const Arguments& arguments) {
  const double eps = arguments.number("eps");
  if (!(eps >= 0.0)) fail(ErrorCode::invalid_argument, "eps must be >= 0, it is ", eps);
  return static_cast<float>(eps);
}

std::ptrdiff_t one_axis(const Arguments& arguments) {
  return static_cast<std::ptrdiff_t>(arguments.number("axis"));
}

Activation elementwise_of(const Arguments& arguments) {
  const std::string name = arguments.text("kind");
  if (const auto kind = elementwise_named(name)) return *kind;
  fail(ErrorCode::unsupported, "activation: \"", name, "\" is not known");
}

}  // namespace

val softmax(const Arguments& arguments) {
  return to_value(clearformer::softmax(arguments.floats("x"), one_axis(arguments)));
}

val log_softmax(const Arguments& arguments) {
  return to_value(clearformer::log_softmax(arguments.floats("x"), one_axis(arguments)));
}

val softplus(const Arguments& arguments) {
  return to_value(clearformer::softplus(arguments.floats("x"),
                                        static_cast<float>(arguments.number("beta")),
                                        static_cast<float>(arguments.number("threshold"))));
}

val gated(const Arguments& arguments) {
  return to_value(
      clearformer::gated(elementwise_of(arguments), arguments.floats("x"), one_axis(arguments)));
}

val conv1d(const Arguments& arguments) {
  const auto size = [&](const char* name) { return arguments.count(name); };
  const auto bias = arguments.optional_floats("bias");
  const TensorView bias_view = bias ? bias->view() : TensorView();
  return to_value(clearformer::conv1d(
      arguments.floats("x"), arguments.floats("weight"), bias ? &bias_view : nullptr,
      {size("stride"), size("dilation"), size("groups"), size("padding"), size("padding_behind")}));
}

val masked_softmax(const Arguments& arguments) {
  return to_value(clearformer::masked_softmax(arguments.floats("x"), arguments.mask("mask"),
                                              empty_row_of(arguments)));
}

val matmul(const Arguments& arguments) {
  return to_value(clearformer::matmul(arguments.floats("x"), arguments.floats("y")));
}

val bmm(const Arguments& arguments) {
  return to_value(clearformer::bmm(arguments.floats("x"), arguments.floats("y")));
}

val layer_norm(const Arguments& arguments) {
  const auto weight = arguments.optional_floats("weight");
  const auto bias = arguments.optional_floats("bias");
  const TensorView weight_view = weight ? weight->view() : TensorView();
  const TensorView bias_view = bias ? bias->view() : TensorView();
  return to_value(clearformer::layer_norm(arguments.floats("x"), last_axes(arguments),
                                          weight ? &weight_view : nullptr,
                                          bias ? &bias_view : nullptr, eps_of(arguments)));
}

val rms_norm(const Arguments& arguments) {
  const auto weight = arguments.optional_floats("weight");
  const TensorView weight_view = weight ? weight->view() : TensorView();
  return to_value(clearformer::rms_norm(arguments.floats("x"), last_axes(arguments),
                                        weight ? &weight_view : nullptr, eps_of(arguments)));
}

val activation(const Arguments& arguments) {
  return to_value(clearformer::activation(elementwise_of(arguments), arguments.floats("x")));
}

namespace {

PoolingOptions pooling_options(const Arguments& arguments) {
  PoolingOptions options;
  options.mask = arguments.mask("mask");
  options.softcap = static_cast<float>(arguments.optional_number("softcap").value_or(0.0));
  options.empty_row = empty_row_of(arguments);
  if (arguments.flag("enable_gqa")) options.groups = PoolingOptions::Groups::grouped;
  options.keep = keep_of(arguments);
  options.score.name = arguments.text("score");
  options.score.parameters = arguments.tensors("parameters");
  return options;
}

}  // namespace

val attention_pooling(const Arguments& arguments) {
  const Pooled pooled =
      clearformer::attention_pooling(arguments.floats("query"), arguments.floats("key"),
                                     arguments.floats("value"), pooling_options(arguments));
  val result = val::object();
  put(result, "output", to_value(pooled.output));
  if (!pooled.kept.empty()) put(result, "kept", to_value(pooled.kept));
  return result;
}

val attention_pooling_backward(const Arguments& arguments) {
  const PoolingGradients found = clearformer::attention_pooling_backward(
      arguments.floats("query"), arguments.floats("key"), arguments.floats("value"),
      pooling_options(arguments), arguments.floats("grad_output"));
  val result = val::object();
  put(result, "query", to_value(found.queries));
  put(result, "key", to_value(found.keys));
  put(result, "value", to_value(found.values));
  for (const auto& [name, tensor] : found.parameters) {
    result.set(to_value(name), to_value(tensor));
  }
  return result;
}

}  // namespace clearformer::bindings
