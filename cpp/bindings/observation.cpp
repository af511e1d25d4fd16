#include "bindings/observation.h"

namespace clearformer::bindings {

using emscripten::val;

Trace::Function function_of(const val& call) {
  return [call](std::string_view name, const MutableTensorView& value) {
    const val data = call(to_value(name), to_value(value));
    if (data.isNull()) fail(ErrorCode::invalid_argument, "the function at ", name, " failed");
    const auto elements = static_cast<std::size_t>(value.elements());
    val(emscripten::typed_memory_view(elements, value.f32())).call<void>("set", data);
  };
}

Observation::Observation(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) trace_.capture(name);
  asked_ = asks_ = !names_.empty();
}

Observation::Observation(const Arguments& arguments, const Model& model)
    : Observation(arguments.texts("names")) {
  read_captures(arguments);
  read_edits(arguments);
  if (arguments.flag("output_hidden_states")) lists_ = model.hidden_states();
  if (arguments.flag("output_attentions")) {
    for (OutputList& list : model.attentions()) lists_.push_back(std::move(list));
  }
  for (const OutputList& list : lists_) {
    for (const std::string& hook : list.hooks) trace_.capture(hook);
  }
  asked_ = asked_ || !lists_.empty();
}

void Observation::read_edits(const Arguments& arguments) {
  for (const Arguments& given : arguments.objects("fwd_hooks")) {
    trace_.edit(given.text("hook"), function_of(given.value("call")));
    asked_ = true;
  }
  for (const Arguments& given : arguments.objects("edits")) {
    Edit edit;
    edit.hook = given.text("hook");
    edit.op = op_named(given.text("op"));
    edit.rows = given.integer_list("rows");
    edit.heads = given.integer_list("heads");
    edit.positions = given.integer_list("positions");
    edit.key_positions = given.integer_list("key_positions");
    edit.features = given.integer_list("features");
    if (given.has("value")) edit.value = given.floats("value");
    if (given.has("min")) edit.min = given.floats("min");
    if (given.has("max")) edit.max = given.floats("max");
    if (given.has("seed")) edit.seed = given.count("seed");
    trace_.edit(std::move(edit));
    asked_ = true;
  }
}

void Observation::read_captures(const Arguments& arguments) {
  for (const Arguments& given : arguments.objects("parts")) {
    Capture capture;
    capture.hook = given.text("hook");
    capture.rows = given.integer_list("rows");
    capture.heads = given.integer_list("heads");
    capture.positions = given.integer_list("positions");
    capture.key_positions = given.integer_list("key_positions");
    capture.features = given.integer_list("features");
    if (given.has("reduction")) capture.reduction = reduction_named(given.text("reduction"));
    capture.over = given.texts("over");
    if (given.has("k")) capture.k = given.count("k");
    trace_.capture(std::move(capture));
    asked_ = asks_ = true;
  }
}

void Observation::report(val& result) {
  if (!lists_.empty()) {
    val lists = val::object();
    for (const OutputList& list : lists_) {
      val members = val::array();
      for (const std::string& hook : list.hooks) {
        for (const Trace::Captured& entry : trace_.captured()) {
          if (entry.name == hook && !entry.selected) push(members, to_value(entry.value));
        }
      }
      lists.set(to_value(list.name), members);
    }
    put(result, "lists", lists);
  }
  if (asks_) {
    val captured = val::object(), indices = val::object();
    for (const Trace::Captured& entry : trace_.captured()) {
      if (entry.selected) captured.set(to_value(entry.name), to_value(entry.value));
      if (!entry.indices.empty()) indices.set(to_value(entry.name), to_value(entry.indices));
      for (const std::string& name : names_) {
        if (!entry.selected && matches_pattern(entry.name, name))
          captured.set(to_value(entry.name), to_value(entry.value));
      }
    }
    put(result, "captured", captured);
    put(result, "indices", indices);
  }
  forget();
}

}  // namespace clearformer::bindings
