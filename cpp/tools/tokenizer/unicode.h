// Unicode for the tokenizer: conversions, character classes and regular expressions, all by ICU.
// Texts are UTF-16 (icu::UnicodeString) until they are cut into words.
#pragma once

#include <unicode/regex.h>
#include <unicode/unistr.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/weights/json.h"

namespace clearformer::tools {

/// Malformed bytes become U+FFFD.
icu::UnicodeString from_utf8(std::string_view text);
std::string to_utf8(const icu::UnicodeString& text);

/// A character as UTF-8.
std::string to_utf8(UChar32 character);

/// Places [from, to) in UTF-16 code units.
struct Span {
  std::int32_t from = 0;
  std::int32_t to = 0;
};

/// A compiled regular expression; copies share it.
class Pattern {
 public:
  /// In Oniguruma's syntax, as tokenizer.json has it. Throws unsupported for what ICU cannot do or
  /// means otherwise.
  static Pattern regex(std::string_view expression);
  static Pattern literal(std::string_view text);
  /// {"Regex": …} or {"String": …}; `where` names the step in messages.
  static Pattern of(const Json* pattern, std::string_view where);

  /// All matches from left to right; empty ones too.
  std::vector<Span> matches(const icu::UnicodeString& text) const;

 private:
  explicit Pattern(std::shared_ptr<const icu::RegexPattern> pattern)
      : pattern_(std::move(pattern)) {}
  std::shared_ptr<const icu::RegexPattern> pattern_;
};

/// \w of the crate's expressions.
bool is_word_character(UChar32 character);

/// The text with every character turned into what `change` makes of it.
icu::UnicodeString each_character(const icu::UnicodeString& text,
                                  const std::function<void(UChar32, icu::UnicodeString&)>& change);

/// The bytes of a text in GPT-2's alphabet: one printable character for each byte.
/// Source: github.com/openai/gpt-2, src/encoder.py.
icu::UnicodeString spell_bytes(const icu::UnicodeString& text);
/// The byte a character of that alphabet stands for, or -1.
int spelled_byte(UChar32 character);

}  // namespace clearformer::tools
