#include "tools/json_writer.h"

#include <charconv>
#include <cmath>

namespace clearformer::tools {

std::string json_string(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string json = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      json += {'\\', character};
    } else if (character == '\n') {
      json += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      json += std::string("\\u00") + kDigits[code >> 4] + kDigits[code & 15];
    } else {
      json += character;
    }
  }
  return json + "\"";
}

namespace {

template <class Number>
std::string shortest(Number value) {
  if (!std::isfinite(value)) return "null";
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

std::string json_number(float value) { return shortest(value); }
std::string json_number(double value) { return shortest(value); }

std::string json_list(const std::vector<std::string>& values) {
  std::string json = "[";
  for (const std::string& value : values) json += (json.size() > 1 ? ", " : "") + value;
  return json + "]";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) values.push_back(json_string(text));
  return json_list(values);
}

JsonObject& JsonObject::add(std::string_view key, std::string_view value) {
  if (!members_.empty()) members_ += ", ";
  members_ += json_string(key) + ": ";
  members_ += value;
  return *this;
}

}  // namespace clearformer::tools
