// Wildcard patterns for names, where '*' matches any run of characters, and lists of names.
#pragma once

#include <string_view>
#include <vector>

namespace clearformer {

/// Whether `pattern` matches the whole of `name`.
bool matches_pattern(std::string_view name, std::string_view pattern);

/// The parts of a text between separators, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator = ' ');

}  // namespace clearformer
