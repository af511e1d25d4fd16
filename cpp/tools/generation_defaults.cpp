#include "tools/generation_defaults.h"

#include "tools/files.h"
#include "tools/json_writer.h"

namespace clearformer::tools {

namespace {

constexpr const char* kOptions = "--options";

// JSON as it is, everything else as a string.
std::string as_json(const std::string& value) {
  try {
    Json::parse(value, kOptions, ErrorCode::invalid_argument);
    return value;
  } catch (const Error&) {
    return json_string(value);
  }
}

}  // namespace

GenerationConfig generation_config(const GenerateOptions& options, const ModelConfig& model) {
  GenerationConfig config;
  config.eos_token_ids = model.eos_token_ids;
  config.pad_token_id = model.pad_token_id;
  const auto own = read_text(options.folder + "/generation_config.json");
  const std::string file = own ? "generation_config.json" : "config.json";
  const std::string text = own ? *own : require_text(options.folder + "/config.json");
  config.update(ConfigReader(text, file), GenerationConfig::Unknown::ignore);
  JsonObject named;
  for (const auto& [name, value] : options.named) named.add(name, as_json(value));
  for (const std::string& given : {options.options, named.done()}) {
    config.update(ConfigReader(given, "options", ErrorCode::invalid_argument),
                  GenerationConfig::Unknown::refuse);
  }
  return config;
}

}  // namespace clearformer::tools
