#include "support/mutation.h"

#include <cctype>

namespace clearformer::test {

namespace {

constexpr const char* kTokens[] = {"-1",
                                   "0",
                                   "1",
                                   "2",
                                   "4294967295",
                                   "4294967296",
                                   "18446744073709551615",
                                   "18446744073709551616",
                                   "9223372036854775807",
                                   "2147483647",
                                   "2147483646",
                                   "1e308",
                                   "1e999",
                                   "0.5",
                                   "-0",
                                   "null",
                                   "true",
                                   "\"\"",
                                   "[]",
                                   "{}",
                                   "[[[[",
                                   "}",
                                   "]",
                                   "\"",
                                   "\\",
                                   ",",
                                   ":",
                                   "\xff",
                                   "\xc3",
                                   "\\u0000",
                                   "\\ud800",
                                   "__metadata__"};

// The position of the number at or after `at`; empty if there is none.
std::pair<std::size_t, std::size_t> number_behind(const std::string& text, std::size_t at) {
  const auto digit = [&](std::size_t i) {
    return std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  while (at < text.size() && !digit(at)) ++at;
  std::size_t end = at;
  while (end < text.size() && digit(end)) ++end;
  return {at, end - at};
}

void change(std::string& text, Random& random) {
  if (text.empty()) return;
  const std::size_t at = random.below(text.size());
  const char* token = kTokens[random.below(std::size(kTokens))];
  switch (random.below(7)) {
    case 0: text[at] = static_cast<char>(random.below(256)); break;
    case 1: text[at] = static_cast<char>(text[at] ^ (1 << random.below(8))); break;
    case 2: text.erase(at, 1 + random.below(12)); break;
    case 3: text.insert(at, text.substr(random.below(text.size()), 1 + random.below(40))); break;
    case 4: text.insert(at, token); break;
    case 5: std::swap(text[at], text[random.below(text.size())]); break;
    default: {
      const auto [first, length] = number_behind(text, at);
      text.replace(first, length, token);
    }
  }
}

}  // namespace

std::string mutated(std::string text, Random& random) {
  const std::size_t changes = 1 + random.below(4);
  for (std::size_t i = 0; i < changes; ++i) change(text, random);
  return text;
}

}  // namespace clearformer::test
