#include "clearformer/architectures/key_table.h"

namespace clearformer {

namespace {

// Common to all classes.
constexpr std::string_view kCommon =
    R"("model_type":null,"architectures":null,"id2label":null,"num_labels":null)";

Json::Object members(std::string_view text) {
  return Json::parse(concat("{", text, "}"), "key table", ErrorCode::invalid_argument).object();
}

bool is_neutral(const Json& value, const Json& neutral) {
  if (value.is_null()) return true;
  if (neutral.is_bool()) return value.is_bool() && value.boolean() == neutral.boolean();
  return value.is_string() && neutral.is_string() && value.string() == neutral.string();
}

}  // namespace

ConfigReader declared(const ConfigReader& config, const KeyTable& table) {
  const Json& file = config.root();
  for (const auto& [key, neutral] : members(table.neutral)) {
    const Json* value = file.find(key);
    if (value == nullptr || is_neutral(*value, neutral)) continue;
    std::string why;
    if (value->is_string()) why = concat(": \"", value->string(), "\"");
    if (neutral.is_bool()) why = neutral.boolean() ? ": it is not true" : ": it is not false";
    config.refuse(ErrorCode::unsupported, key, "has a value that is not supported here", why);
  }
  const Json::Object names = members(table.other_names);
  // The value under the last of the key's other names, or under its own.
  const auto given = [&](const std::string& key) {
    const Json* value = file.find(key);
    for (const auto& [name, field] : names) {
      const Json* other = field.string() == key ? file.find(name) : nullptr;
      if (other != nullptr) value = other;
    }
    return value;
  };
  Json::Object known;
  for (const std::string_view group :
       {kCommon, table.fields, table.shared_fields, table.others, table.since_5_2}) {
    for (const auto& [key, usual] : members(group)) {
      const Json* value = given(key);
      known.emplace_back(key, value == nullptr ? usual : *value);
    }
  }
  return config.with_members(std::move(known));
}

}  // namespace clearformer
