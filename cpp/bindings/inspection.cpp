// Border function: what is in a folder.

#include "clearformer/loading/inspection.h"

#include "bindings/functions.h"

namespace clearformer::bindings {

using emscripten::val;

val inspect(const Arguments& arguments) {
  InspectedFolder folder;
  if (arguments.has("config")) folder.config = arguments.text("config");
  if (arguments.has("index")) folder.index = arguments.text("index");
  if (arguments.has("task")) folder.task = arguments.text("task");
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
