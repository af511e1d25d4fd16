// Bindings: the weights of a model, read and edited.

#include "bindings/functions.h"
#include "clearformer/layers/svd.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/loading/stored_frequencies.h"
#include "clearformer/models/composition.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

constexpr std::int64_t kToTheEnd = 9007199254740991;  // Number.MAX_SAFE_INTEGER

// [start, end) of each axis, negative from the end; axes after the last one given are whole.
Region region_in(const std::vector<std::int64_t>& bounds, const Shape& shape) {
  if (bounds.size() > 2 * shape.rank()) {
    fail(ErrorCode::invalid_argument, "at: ", bounds.size() / 2, " axes of a parameter of shape ",
         shape.text());
  }
  Region region;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const auto extent = static_cast<std::int64_t>(shape[axis]);
    std::int64_t start = 0, end = extent;
    if (2 * axis + 1 < bounds.size()) {
      start = bounds[2 * axis] + (bounds[2 * axis] < 0 ? extent : 0);
      end = bounds[2 * axis + 1];
      if (end < 0) end += extent;
      if (end == kToTheEnd) end = extent;
    }
    if (start < 0 || end < start || end > extent) {
      fail(ErrorCode::invalid_argument, "at: no elements ", start, " to ", end, " on axis ", axis,
           " of a parameter of shape ", shape.text());
    }
    region.start.append(static_cast<std::size_t>(start));
    region.size.append(static_cast<std::size_t>(end - start));
  }
  return region;
}

val shape_value(const Shape& shape) {
  val dims = val::array();
  for (const std::size_t extent : shape) push(dims, extent);
  return dims;
}

ParameterEdit::Op op_named(const std::string& name) {
  if (name == "replace") return ParameterEdit::Op::replace;
  if (name == "add") return ParameterEdit::Op::add;
  if (name == "scale") return ParameterEdit::Op::scale;
  if (name == "rank_one") return ParameterEdit::Op::rank_one;
  fail(ErrorCode::invalid_argument, "edit of a parameter: there is no op \"", name, "\"");
}

Composition composition_named(const std::string& mode) {
  if (mode == "Q") return Composition::queries;
  if (mode == "K") return Composition::keys;
  if (mode == "V") return Composition::values;
  fail(ErrorCode::invalid_argument, "composition: mode \"", mode, "\" is not Q, K or V");
}

WeightProcessing processing_in(const Arguments& arguments) {
  return {arguments.flag("fold_ln"), arguments.flag("center_writing_weights"),
          arguments.flag("with_adapters")};
}

// Those of the model, or of one of its adapters.
const Parameters& parameters_in(const Arguments& arguments, const Model& model) {
  if (!arguments.has("adapter")) return model.parameters();
  return model.adapters().parameters(arguments.text("adapter"));
}

val edits_value(const Model& model) {
  val result = val::object();
  put(result, "edits", model.parameters().edits());
  return result;
}

}  // namespace

val checkpoint_tensors(const Arguments& arguments) {
  val list = val::array(), result = val::object();
  for (const Weights::Needed& tensor : needed_tensors(arguments.text("config"), task_in(arguments),
                                                      arguments.text("config_name"))) {
    val entry = val::object();
    put(entry, "name", to_value(tensor.name));
    put(entry, "dims", shape_value(tensor.shape));
    push(list, entry);
  }
  put(result, "tensors", list);
  return result;
}

Model& editable(const OpenModel& open) {
  if (open.passes != 0) {
    fail(ErrorCode::invalid_argument, "weights are not edited while a pass is in progress");
  }
  return *open.model;
}

val parameter_list(const Arguments& arguments) {
  val list = val::array(), result = val::object();
  const auto open = model_of(arguments);
  for (const Parameters::Listed& listed : parameters_in(arguments, *open->model).list()) {
    val entry = val::object();
    put(entry, "name", to_value(listed.name));
    put(entry, "dims", shape_value(listed.shape));
    put(entry, "dtype", to_value(to_string(listed.format)));
    put(entry, "quantized", is_quantized(listed.format));
    put(entry, "bytes", listed.bytes);
    if (arguments.flag("with_synonyms")) {
      put(entry, "inputs", listed.inputs);
      put(entry, "synonyms", to_value(open->model->synonyms(listed.path)));
    }
    push(list, entry);
  }
  put(result, "parameters", list);
  const Tensor frequencies = stored_frequencies(open->model->config().tower);
  if (!frequencies.empty()) put(result, "frequencies", to_value(frequencies));
  return result;
}

val parameter_read(const Arguments& arguments) {
  const Model& model = *model_of(arguments)->model;
  const std::string name = arguments.text("name");
  const WeightProcessing processing = processing_in(arguments);
  if (processing.fold_ln || processing.center_writing_weights) {
    return to_value(processed_weight(model.config(), model.parameters(), name, processing));
  }
  ParameterView view = arguments.has("adapter")
                           ? parameters_in(arguments, model).stored(name).value()
                           : model.parameter(name);
  view.with_updates = processing.with_adapters;
  return to_value(Parameters::read(view, region_in(arguments.integer_list("at"), view.shape)));
}

val parameter_edit(const Arguments& arguments) {
  const auto open = model_of(arguments);
  Model& model = editable(*open);
  const std::string name = arguments.text("name");
  const Tensor value = arguments.floats("value");
  const std::optional<Tensor> right = arguments.optional_floats("right");
  ParameterEdit edit{op_named(arguments.text("op")), value};
  if (right) edit.right = *right;
  edit.region = region_in(arguments.integer_list("at"), model.parameter(name).shape);
  model.edit_parameter(name, edit);
  handles().note_peak();
  return edits_value(model);
}

val parameter_undo(const Arguments& arguments) {
  const auto open = model_of(arguments);
  Model& model = editable(*open);
  const bool all = !arguments.has("count");
  model.undo_edits(all ? model.parameters().edits() : arguments.count("count"));
  return edits_value(model);
}

val composition_scores(const Arguments& arguments) {
  const Model& model = *model_of(arguments)->model;
  return to_value(clearformer::composition_scores(
      model.config(), model.parameters(), arguments.count("layer"),
      composition_named(arguments.text("mode")), processing_in(arguments)));
}

val svd(const Arguments& arguments) {
  const Tensor x = arguments.floats("x");
  const std::optional<Tensor> y = arguments.optional_floats("y");
  const Svd factors = y ? clearformer::svd(x, *y) : clearformer::svd(x);
  val result = val::object();
  put(result, "u", to_value(factors.u));
  put(result, "s", to_value(factors.s));
  put(result, "vh", to_value(factors.vh));
  return result;
}

}  // namespace clearformer::bindings
