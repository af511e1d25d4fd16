// Border function: what is in a folder.

#include "clearformer/loading/inspection.h"

#include "bindings/functions.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

std::optional<std::string> text_in(const Arguments& arguments, const char* key) {
  if (!arguments.has(key)) return std::nullopt;
  return arguments.text(key);
}

}  // namespace

val inspect(const Arguments& arguments) {
  InspectedFolder folder;
  folder.config = text_in(arguments, "config");
  folder.index = text_in(arguments, "index");
  folder.task = text_in(arguments, "task");
  for (const Arguments& file : arguments.objects("files")) {
    folder.files.push_back({file.text("name"), file.count("bytes"), file.bytes("start")});
  }
  Inspection found = clearformer::inspect(folder);
  val result = val::object();
  if (found.config) {
    result.set("cfg", cfg_of(*found.config));
    found.problems.collect("generation_config.json",
                           [&] { defaults_of(arguments, *found.config); });
  }
  result.set("facts", to_json(found));
  return result;
}

}  // namespace clearformer::bindings
