#include "clearformer/tensor/pattern.h"

namespace clearformer {

bool matches_pattern(std::string_view name, std::string_view pattern) {
  // Backtracking to the last star suffices: an earlier one cannot find a match that the last one misses.
  std::size_t at = 0, next = 0, star = std::string_view::npos, taken = 0;
  while (at < name.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      star = next++;
      taken = at;
    } else if (next < pattern.size() && pattern[next] == name[at]) {
      ++next;
      ++at;
    } else if (star != std::string_view::npos) {
      next = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', next) == std::string_view::npos;
}

}  // namespace clearformer
