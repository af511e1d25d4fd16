#include "clearformer/weights/config_reader.h"

#include <limits>
#include <utility>

namespace clearformer {

namespace {
constexpr std::uint64_t kMaxInt = std::numeric_limits<std::int32_t>::max();
}  // namespace

ConfigReader::ConfigReader(std::string_view text, std::string file, ErrorCode code)
    : root_(Json::parse(text, file, code)), file_(std::move(file)), code_(code) {
  if (!root_.is_object()) fail(code_, file_, ": the top level must be a JSON object");
}

ConfigReader ConfigReader::with_members(Json::Object members) const {
  ConfigReader reader(Json(std::move(members)), file_, code_);
  reader.closed_ = true;
  return reader;
}

ConfigReader ConfigReader::without(std::string_view key) const {
  Json::Object members = root_.object();
  std::erase_if(members, [&](const auto& member) { return member.first == key; });
  return ConfigReader(Json(std::move(members)), file_, code_);
}

const Json* ConfigReader::find_set(std::string_view key) const {
  const Json* value = root_.find(key);
  if (value == nullptr && closed_) {
    refuse(ErrorCode::invalid_argument, key, "is read, but not in the table of this model's keys");
  }
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Json& ConfigReader::required(std::string_view key) const {
  const Json* value = find_set(key);
  if (value == nullptr) refuse_value(key, root_.find(key) == nullptr ? "is missing" : "is null");
  return *value;
}

void ConfigReader::refuse_rule(std::string_view key, std::initializer_list<Text> rule) const {
  const Json* value = root_.find(key);
  refuse_value(key, "must ", joined(rule), ", it is ",
               value == nullptr ? "missing" : value->text());
}

std::size_t ConfigReader::size(std::string_view key) const {
  const auto value = required(key).unsigned_integer();
  if (!value || *value == 0 || *value > kMaxInt) {
    refuse_must(key, "be a whole number from 1 to ", kMaxInt);
  }
  return static_cast<std::size_t>(*value);
}

std::size_t ConfigReader::product(std::string_view key, std::uint64_t a, std::uint64_t b) const {
  if (a * b > kMaxInt) {
    refuse_value(key, "and the sizes it multiplies make ", a * b, ", more than ", kMaxInt);
  }
  return static_cast<std::size_t>(a * b);
}

std::size_t ConfigReader::size(std::string_view key, std::size_t fallback) const {
  return find_set(key) == nullptr ? fallback : size(key);
}

std::size_t ConfigReader::count(std::string_view key, std::size_t fallback) const {
  const Json* value = find_set(key);
  if (value == nullptr) return fallback;
  const auto number = value->unsigned_integer();
  if (!number || *number > kMaxInt) refuse_must(key, "be a whole number >= 0");
  return static_cast<std::size_t>(*number);
}

double ConfigReader::number(std::string_view key) const {
  const Json& value = required(key);
  if (!value.is_number()) refuse_must(key, "be a number");
  return value.number();
}

double ConfigReader::number_in(std::string_view key, double least, double most) const {
  const double value = number(key);
  if (!(value >= least && value <= most))
    refuse_must(key, "be a number from ", least, " to ", most);
  return value;
}

double ConfigReader::number(std::string_view key, double fallback) const {
  return is_set(key) ? number(key) : fallback;
}

bool ConfigReader::flag(std::string_view key, bool fallback) const {
  const Json* value = find_set(key);
  if (value == nullptr) return fallback;
  if (!value->is_bool()) refuse_must(key, "be true or false");
  return value->boolean();
}

std::string ConfigReader::text(std::string_view key) const {
  const Json& value = required(key);
  if (!value.is_string()) refuse_must(key, "be a string");
  return value.string();
}

std::string ConfigReader::text(std::string_view key, std::string fallback) const {
  return find_set(key) == nullptr ? std::move(fallback) : text(key);
}

std::vector<std::string> ConfigReader::texts(std::string_view key) const {
  const Json* value = find_set(key);
  if (value == nullptr) return {};
  if (!value->is_array()) refuse_must(key, "be a list of strings");
  std::vector<std::string> list;
  for (const Json& entry : value->array()) {
    if (!entry.is_string()) refuse_must(key, "hold strings only");
    list.push_back(entry.string());
  }
  return list;
}

std::vector<double> ConfigReader::numbers(std::string_view key) const {
  const Json& value = required(key);
  if (!value.is_array()) refuse_must(key, "be a list of numbers");
  std::vector<double> list;
  for (const Json& entry : value.array()) {
    if (!entry.is_number()) refuse_must(key, "hold numbers only");
    list.push_back(entry.number());
  }
  return list;
}

std::optional<std::int32_t> ConfigReader::token(std::string_view key) const {
  const Json* value = find_set(key);
  if (value == nullptr) return std::nullopt;
  const auto id = value->unsigned_integer();
  const bool may_be_negative = key == "pad_token_id" && code_ == ErrorCode::malformed_config;
  if (!id && may_be_negative && value->integer()) return std::nullopt;
  if (!id || *id > kMaxInt) refuse_must(key, "be a token id");
  return static_cast<std::int32_t>(*id);
}

std::optional<std::int32_t> ConfigReader::row(std::string_view key, std::size_t rows) const {
  const Json* value = find_set(key);
  const auto given = value == nullptr ? std::nullopt : value->integer();
  if (!given) return std::nullopt;
  const auto row = static_cast<std::uint64_t>(*given) + (*given < 0 ? rows : 0);
  if (row >= rows) return std::nullopt;
  return static_cast<std::int32_t>(row);
}

std::vector<std::int32_t> ConfigReader::tokens(std::string_view key) const {
  const Json* value = find_set(key);
  if (value == nullptr) return {};
  if (!value->is_array()) return {*token(key)};
  std::vector<std::int32_t> ids;
  for (const Json& entry : value->array()) {
    const auto id = entry.unsigned_integer();
    if (!id || *id > kMaxInt) refuse_must(key, "hold token ids only");
    ids.push_back(static_cast<std::int32_t>(*id));
  }
  return ids;
}

std::optional<ConfigReader> ConfigReader::object(std::string_view key) const {
  const Json* value = find_set(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) refuse_must(key, "be an object");
  return ConfigReader(*value, concat(file_, ": \"", key, "\""), code_);
}

}  // namespace clearformer
