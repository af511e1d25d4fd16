// Binding: inspection of a folder.

#include "clearformer/loading/inspection.h"

#include "bindings/functions.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

// Reports invalid generation options, and options with token ids outside the vocabulary: such a model loads and
// generates until that token is used.
void check_generation(const Arguments& arguments, Inspection& found) {
  const bool own = arguments.has("generation_config");
  if (!own && !found.config) return;
  const std::string file = own ? "generation_config.json" : "config.json";
  const std::size_t vocabulary = found.cache ? found.config->d_vocab() : 0;
  found.problems.collect(file, [&] {
    const ConfigReader reader(arguments.text(own ? "generation_config" : "config"), file);
    // Some options have an effect with it only.
    const Json* sampled = reader.root().find("do_sample");
    for (const auto& [key, value] : reader.root().object()) {
      found.problems.collect(file, [&, &key = key, &value = value] {
        GenerationConfig config;
        Json::Object members{{key, value}};
        if (sampled != nullptr && sampled->is_bool()) members.push_back({"do_sample", *sampled});
        config.update(reader.with_members(std::move(members)), GenerationConfig::Unknown::ignore);
        const auto token = config.largest_token();
        if (!token || vocabulary == 0 || static_cast<std::size_t>(*token) < vocabulary) return;
        found.problems.push_back({ErrorCode::malformed_config, Problem::Severity::warning,
                                  concat(file, ": \"", key, "\" names token ", *token,
                                         ", the vocabulary has ", vocabulary),
                                  file});
      });
    }
  });
}

}  // namespace

val inspect(const Arguments& arguments) {
  InspectedFolder folder;
  if (arguments.has("config")) folder.config = arguments.text("config");
  if (arguments.has("index")) folder.index = arguments.text("index");
  if (arguments.has("task")) folder.task = arguments.text("task");
  if (arguments.has("dtype")) folder.dtype = arguments.text("dtype");
  for (const Arguments& file : arguments.objects("files")) {
    folder.files.push_back(
        {file.text("name"), static_cast<std::uint64_t>(file.whole("bytes")), file.bytes("start")});
  }
  Inspection found = clearformer::inspect(folder);
  val result = val::object();
  if (found.config) {
    put(result, "cfg", cfg_of(*found.config));
  }
  check_generation(arguments, found);
  put(result, "facts", to_value(to_json(found)));
  return result;
}

}  // namespace clearformer::bindings
