// Serialises a case's options as JSON, for classes that read their options from JSON.
#pragma once

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

#include "support/fixture.h"

namespace clearformer::test {

inline std::string json_text(const Json& value) {
  if (value.is_string()) return concat("\"", value.string(), "\"");
  if (value.is_bool()) return value.boolean() ? "true" : "false";
  if (value.is_integer()) return std::to_string(*value.integer());
  if (value.is_array()) {
    std::string text;
    for (const Json& entry : value.array())
      text += concat(text.empty() ? "" : ",", json_text(entry));
    return concat("[", text, "]");
  }
  if (value.is_object()) {
    std::string text;
    for (const auto& [key, member] : value.object()) {
      text += concat(text.empty() ? "" : ",", "\"", key, "\":", json_text(member));
    }
    return concat("{", text, "}");
  }
  if (value.is_null()) return "null";
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", value.number());
  return digits;
}

/// All options but those in `without`.
inline std::string options_text(const Case& example,
                                std::initializer_list<std::string_view> without = {}) {
  std::string text;
  for (const auto& [key, value] : example.options().object()) {
    if (std::find(without.begin(), without.end(), key) != without.end()) continue;
    text += concat(text.empty() ? "" : ",", "\"", key, "\":", json_text(value));
  }
  return concat("{", text, "}");
}

}  // namespace clearformer::test
