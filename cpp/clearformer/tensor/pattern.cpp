#include "clearformer/tensor/pattern.h"

namespace clearformer {

bool matches_pattern(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t skipped = star; skipped <= name.size(); ++skipped) {
    if (matches_pattern(name.substr(skipped), rest)) return true;
  }
  return false;
}

}  // namespace clearformer
