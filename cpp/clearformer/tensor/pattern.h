// Wildcard patterns for names: '*' matches any run of characters.
#pragma once

#include <string_view>

namespace clearformer {

/// Whether `pattern` matches the whole of `name`.
bool matches_pattern(std::string_view name, std::string_view pattern);

}  // namespace clearformer
