// Border functions: the operations of the blocks on tensors.

#include "clearformer/layers/functional.h"

#include "bindings/functions.h"
#include "clearformer/layers/attention_pooling.h"
#include "clearformer/weights/scope.h"

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

// W_q, W_k, w_v as an additive score; nothing when W_q is absent.
std::optional<AdditiveScore> additive_of(const Arguments& arguments) {
  if (!arguments.has("W_q")) return std::nullopt;
  Weights weights;
  Tensor query = arguments.floats("W_q"), key = arguments.floats("W_k");
  if (query.shape().rank() != 2 || key.shape().rank() != 2) {
    fail(ErrorCode::shape_mismatch, "attention: W_q of shape ", query.shape().text(),
         " and W_k of shape ", key.shape().text(), " must be matrices");
  }
  const std::size_t hidden = query.dim(0), query_size = query.dim(1), key_size = key.dim(1);
  Tensor vector = arguments.floats("w_v");
  if (vector.shape().rank() == 1) vector.reshape({1, vector.dim(0)});
  weights.add("W_q.weight", "arguments", std::move(query));
  weights.add("W_k.weight", "arguments", std::move(key));
  weights.add("w_v.weight", "arguments", std::move(vector));
  const NameMap names;
  AdditiveScore score(WeightScope(weights, names), query_size, key_size, hidden);
  weights.check(Weights::Unexpected::refuse);
  return score;
}

std::size_t last_axes(const Arguments& arguments) {
  return static_cast<std::size_t>(arguments.count("axes"));
}

float eps_of(const Arguments& arguments) {
  const double eps = arguments.number("eps");
  if (!(eps >= 0.0)) fail(ErrorCode::invalid_argument, "eps must be >= 0, it is ", eps);
  return static_cast<float>(eps);
}

}  // namespace

val softmax(const Arguments& arguments) {
  return to_value(clearformer::softmax(arguments.floats("x"),
                                       static_cast<std::ptrdiff_t>(arguments.number("axis"))));
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
  const std::string name = arguments.text("kind");
  const Tensor x = arguments.floats("x");
  const auto kind = elementwise_named(name);
  if (!kind) fail(ErrorCode::unsupported, "activation: \"", name, "\" is not known");
  return to_value(clearformer::activation(*kind, x));
}

val attention_pooling(const Arguments& arguments) {
  PoolingOptions options;
  options.mask = arguments.mask("mask");
  if (const auto scale = arguments.optional_number("scale")) {
    options.scale = static_cast<float>(*scale);
  }
  options.softcap = static_cast<float>(arguments.optional_number("softcap").value_or(0.0));
  if (!(options.softcap >= 0.0f)) {
    fail(ErrorCode::invalid_argument, "attention: softcap must be >= 0, it is ", options.softcap);
  }
  options.empty_row = empty_row_of(arguments);
  if (arguments.flag("enable_gqa")) options.groups = PoolingOptions::Groups::grouped;
  options.keep = keep_of(arguments);
  const auto additive = additive_of(arguments);
  if (additive) options.additive = &*additive;
  const auto general = arguments.optional_floats("M");
  if (general) options.general = &*general;
  if (const auto sigma = arguments.optional_number("sigma")) {
    options.sigma = static_cast<float>(*sigma);
  }
  const Pooled pooled = clearformer::attention_pooling(
      arguments.floats("query"), arguments.floats("key"), arguments.floats("value"), options);
  val result = val::object();
  result.set("output", to_value(pooled.output));
  if (!pooled.kept.empty()) result.set("kept", to_value(pooled.kept));
  return result;
}

}  // namespace clearformer::bindings
