// A strict reader of JSON (RFC 8259) by recursive descent, for the second reader of safetensors. It knows what a
// header may hold: strings, whole numbers, lists and objects; everything else makes the header wrong anyway.
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

/// Nothing where the text is no JSON or holds what no header may hold.
std::optional<NaiveJson> parse_naively(std::string_view text);

}  // namespace clearformer::fuzz
