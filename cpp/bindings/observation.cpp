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

void read_wanted(const Arguments& arguments, Gradient& gradient) {
  for (const std::string& name : arguments.texts("wanted")) gradient.want(name);
  for (const std::string& name : arguments.texts("wanted_weights")) gradient.want_weights(name);
  for (const std::int64_t index : arguments.integer_list("wanted_edits")) {
    gradient.want_edit(static_cast<std::size_t>(index));
  }
  for (const Arguments& hook : arguments.objects("bwd_hooks")) {
    gradient.edit(hook.text("hook"), function_of(hook.value("call")));
  }
}

void report_gradient(const Arguments& arguments, const Gradient& gradient, val& result) {
  val grad = val::object(), edits = val::array();
  for (const Trace::Captured& entry : gradient.found()) {
    grad.set(to_value(entry.name), to_value(entry.value));
  }
  for (const std::int64_t index : arguments.integer_list("wanted_edits")) {
    push(edits, to_value(gradient.edit_value(static_cast<std::size_t>(index))));
  }
  put(result, "grad", grad);
  put(result, "edits", edits);
}

// Apart, since most passes are asked for none.
[[gnu::noinline]] static std::vector<OutputList> lists_of(const Model& model, bool states,
                                                          bool attentions) {
  std::vector<OutputList> lists;
  if (states) lists = model.hidden_states();
  if (attentions) {
    for (OutputList& list : model.attentions()) lists.push_back(std::move(list));
  }
  return lists;
}

std::vector<OutputList> lists_in(const Arguments& arguments, const Model& model) {
  const bool states = arguments.flag("output_hidden_states"),
             attentions = arguments.flag("output_attentions");
  if (!states && !attentions) return {};
  return lists_of(model, states, attentions);
}

Observation::Observation(const Arguments& arguments, std::vector<OutputList> lists)
    : asked_(!lists.empty() || arguments.has_any("names") || arguments.has_any("parts") ||
             arguments.has_any("edits") || arguments.has_any("fwd_hooks")) {
  if (asked_) read(arguments, std::move(lists));
}

void Observation::read(const Arguments& arguments, std::vector<OutputList> lists) {
  lists_ = std::move(lists);
  names_ = arguments.texts("names");
  for (const std::string& name : names_) trace_.capture(name);
  asks_ = !names_.empty();
  read_captures(arguments);
  read_edits(arguments);
  for (const OutputList& list : lists_) {
    for (const std::string& hook : list.hooks) trace_.capture(hook);
  }
}

void Observation::read_edits(const Arguments& arguments) {
  for (const Arguments& given : arguments.objects("fwd_hooks")) {
    trace_.edit(given.text("hook"), function_of(given.value("call")));
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
    if (given.has("seed")) edit.seed = static_cast<std::uint64_t>(given.whole("seed"));
    trace_.edit(std::move(edit));
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
    asks_ = true;
  }
}

void Observation::tell(val& result) {
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
