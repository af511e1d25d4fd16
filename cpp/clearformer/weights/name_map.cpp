#include "clearformer/weights/name_map.h"

namespace clearformer {

namespace {

constexpr std::string_view kIndex = "{i}";

// Matches `name` against a pattern with at most one {i}; on success `digits` holds the number.
bool matches(std::string_view name, std::string_view pattern, std::string_view& digits) {
  const std::size_t at = pattern.find(kIndex);
  if (at == std::string_view::npos) return name == pattern;
  const std::string_view tail = pattern.substr(at + kIndex.size());
  if (name.size() < at + tail.size() + 1 || name.substr(0, at) != pattern.substr(0, at) ||
      name.substr(name.size() - tail.size()) != tail) {
    return false;
  }
  digits = name.substr(at, name.size() - at - tail.size());
  return digits.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string NameMap::theirs(std::string_view ours) const {
  for (const NameRule& rule : rules_) {
    std::string_view digits;
    if (!matches(ours, rule.ours, digits)) continue;
    std::string name(rule.theirs);
    const std::size_t at = name.find(kIndex);
    if (at != std::string::npos) name.replace(at, kIndex.size(), digits);
    return prefix_ + name;
  }
  return prefix_ + std::string(ours);
}

}  // namespace clearformer
