#include "tools/tokenizer/step.h"

namespace clearformer::tools {

Step::Step(const Json& json, std::string kind) : json_(&json), kind_(std::move(kind)) {
  const Json* type = json.find("type");
  if (type == nullptr || !type->is_string()) {
    fail(ErrorCode::malformed_config, "tokenizer.json: a ", kind_, " has no type");
  }
  type_ = type->string();
}

bool Step::flag(std::string_view key, bool fallback) const {
  const Json* value = json_->find_set(key);
  if (value == nullptr) return fallback;
  if (!value->is_bool()) refuse(key, "must be true or false");
  return value->boolean();
}

std::string Step::text(std::string_view key) const {
  const Json* value = json_->find_set(key);
  if (value == nullptr || !value->is_string()) refuse(key, "must be a string");
  return value->string();
}

std::string Step::text(std::string_view key, std::string_view fallback) const {
  return json_->find_set(key) == nullptr ? std::string(fallback) : text(key);
}

std::size_t Step::count(std::string_view key) const {
  const Json* value = json_->find_set(key);
  const auto number = value == nullptr ? std::nullopt : value->unsigned_integer();
  if (!number || *number > 0x7fffffff) refuse(key, "must be a whole number >= 0");
  return static_cast<std::size_t>(*number);
}

const Json::Array& Step::list(std::string_view key) const {
  const Json* value = json_->find_set(key);
  if (value == nullptr || !value->is_array()) refuse(key, "must be a list");
  return value->array();
}

void Step::refuse_type() const {
  fail(ErrorCode::unsupported, "tokenizer.json: ", kind_, " ", type_, " is not known");
}

void Step::refuse(std::string_view key, std::string_view rule) const {
  fail(ErrorCode::malformed_config, "tokenizer.json: ", kind_, " ", type_, ": \"", key, "\" ",
       rule);
}

}  // namespace clearformer::tools
