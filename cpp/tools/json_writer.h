// JSON on the way out: what the commands print for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer::tools {

std::string json_string(std::string_view text);
/// The shortest number that reads back as the same float; null for what JSON has no number for.
std::string json_number(float value);
std::string json_number(double value);

/// "[a, b]" of values that are JSON already.
std::string json_list(const std::vector<std::string>& values);
std::string json_strings(const std::vector<std::string>& texts);

template <class Integers>
std::string json_integers(const Integers& values) {
  std::vector<std::string> texts;
  for (const auto value : values) texts.push_back(std::to_string(value));
  return json_list(texts);
}

/// An object, member by member.
class JsonObject {
 public:
  /// `value` is JSON already.
  JsonObject& add(std::string_view key, std::string_view value);
  JsonObject& text(std::string_view key, std::string_view value) {
    return add(key, json_string(value));
  }
  JsonObject& integer(std::string_view key, std::uint64_t value) {
    return add(key, std::to_string(value));
  }
  std::string done() const { return members_.empty() ? "{}" : "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace clearformer::tools
