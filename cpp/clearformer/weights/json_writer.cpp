#include "clearformer/weights/json_writer.h"

namespace clearformer {

void JsonWriter::raw(std::string_view value) {
  constexpr std::string_view kNoComma = "{[:";
  if (!json_.empty() && kNoComma.find(json_.back()) == std::string_view::npos) json_ += ',';
  json_ += value;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  json_ += ':';
  return *this;
}

void JsonWriter::text(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  raw("\"");
  for (const char character : value) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x20) {
      json_ += "\\u00";
      json_ += kDigits[code >> 4];
      json_ += kDigits[code & 15];
      continue;
    }
    if (character == '"' || character == '\\') json_ += '\\';
    json_ += character;
  }
  json_ += '"';
}

}  // namespace clearformer
