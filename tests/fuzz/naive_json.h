// A strict JSON parser (RFC 8259) by recursive descent, for the second safetensors parser. It supports what a
// header may contain: strings, integers, lists and objects; anything else makes the header invalid anyway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer::fuzz {

struct NaiveJson {
  enum class Kind { text, number, list, object };
  Kind kind = Kind::text;
  std::string text;
  std::uint64_t number = 0;
  std::vector<std::string> keys;  // of an object's items
  std::vector<NaiveJson> items;

  const NaiveJson* find(std::string_view key) const;
};

/// nullopt if the text is not JSON or contains what no header may contain.
std::optional<NaiveJson> parse_naively(std::string_view text);

}  // namespace clearformer::fuzz
