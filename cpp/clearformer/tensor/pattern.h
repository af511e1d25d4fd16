// Patterns of names: '*' stands for any run of characters.
#pragma once

#include <string_view>

namespace clearformer {

/// Whether all of `name` matches `pattern`.
bool matches_pattern(std::string_view name, std::string_view pattern);

}  // namespace clearformer
