#include "tools/tokenizer/unicode.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

namespace clearformer::tools {

icu::UnicodeString from_utf8(std::string_view text) {
  return icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
}

std::string to_utf8(const icu::UnicodeString& text) {
  std::string utf8;
  text.toUTF8String(utf8);
  return utf8;
}

std::string to_utf8(UChar32 character) { return to_utf8(icu::UnicodeString(character)); }

namespace {

// Classes that ICU and Oniguruma understand differently: ICU's \s lacks U+000B and U+0085, its \w lacks
// what Latin-1 has in the way of numbers (² and ¼, not ⁴) and has the joiners.
struct Class {
  char letter;
  std::string_view in_icu;
};
constexpr Class kClasses[] = {
    {'s', "\\p{White_Space}"},
    {'S', "\\P{White_Space}"},
    {'w', "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be]"},
    {'W', "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be]"}};
// Further ones, with other meanings there (\h is a hexadecimal digit) or none.
constexpr std::string_view kRefused = "hHKRXGyYkg";

std::string in_icu_syntax(std::string_view expression) {
  std::string translated;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if (expression[i] != '\\' || next == '\0') {
      translated += expression[i];
      continue;
    }
    ++i;
    if (kRefused.find(next) != std::string_view::npos) {
      fail(ErrorCode::unsupported, "tokenizer.json: \\", std::string_view(&next, 1),
           " in the pattern ", expression, " is not supported");
    }
    const auto* known = std::find_if(std::begin(kClasses), std::end(kClasses),
                                     [next](const Class& entry) { return entry.letter == next; });
    if (known != std::end(kClasses)) {
      translated += known->in_icu;
    } else {
      translated += {'\\', next};
    }
  }
  return translated;
}

std::shared_ptr<const icu::RegexPattern> compiled(const icu::UnicodeString& expression,
                                                  std::uint32_t flags) {
  UErrorCode status = U_ZERO_ERROR;
  UParseError place;
  std::shared_ptr<const icu::RegexPattern> pattern(
      icu::RegexPattern::compile(expression, flags, place, status));
  if (U_SUCCESS(status)) return pattern;
  fail(ErrorCode::unsupported, "tokenizer.json: the pattern ", to_utf8(expression),
       " is not understood: ", u_errorName(status));
}

}  // namespace

Pattern Pattern::regex(std::string_view expression) {
  return Pattern(compiled(from_utf8(in_icu_syntax(expression)), 0));
}

Pattern Pattern::literal(std::string_view text) {
  return Pattern(compiled(from_utf8(text), UREGEX_LITERAL));
}

Pattern Pattern::of(const Json* pattern, std::string_view where) {
  if (pattern != nullptr && pattern->is_string()) return literal(pattern->string());
  for (const std::string_view kind : {"Regex", "String"}) {
    const Json* text = pattern == nullptr ? nullptr : pattern->find(kind);
    if (text == nullptr || !text->is_string()) continue;
    return kind == "Regex" ? regex(text->string()) : literal(text->string());
  }
  fail(ErrorCode::malformed_config, "tokenizer.json: ", where, " has no pattern");
}

std::vector<Span> Pattern::matches(const icu::UnicodeString& text) const {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::RegexMatcher> matcher(pattern_->matcher(text, status));
  std::vector<Span> found;
  while (U_SUCCESS(status) && matcher->find(status)) {
    found.push_back({matcher->start(status), matcher->end(status)});
  }
  if (U_FAILURE(status)) {
    fail(ErrorCode::unsupported, "tokenizer.json: the pattern ", to_utf8(pattern_->pattern()),
         " cannot be matched: ", u_errorName(status));
  }
  return found;
}

bool is_word_character(UChar32 character) {
  const std::uint32_t category = U_GET_GC_MASK(character);
  return u_hasBinaryProperty(character, UCHAR_ALPHABETIC) ||
         u_hasBinaryProperty(character, UCHAR_JOIN_CONTROL) ||
         (category & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

icu::UnicodeString each_character(const icu::UnicodeString& text,
                                  const std::function<void(UChar32, icu::UnicodeString&)>& change) {
  icu::UnicodeString changed;
  for (std::int32_t at = 0; at < text.length(); at = text.moveIndex32(at, 1)) {
    change(text.char32At(at), changed);
  }
  return changed;
}

namespace {

constexpr int kBytes = 256;

// Bytes without a visible character of their own get the next one from U+0100 on.
constexpr std::array<char16_t, kBytes> alphabet() {
  std::array<char16_t, kBytes> characters{};
  char16_t next = 0x100;
  for (int byte = 0; byte < kBytes; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    characters[static_cast<std::size_t>(byte)] = printable ? static_cast<char16_t>(byte) : next++;
  }
  return characters;
}
constexpr std::array<char16_t, kBytes> kAlphabet = alphabet();

}  // namespace

icu::UnicodeString spell_bytes(const icu::UnicodeString& text) {
  icu::UnicodeString spelled;
  for (const char byte : to_utf8(text)) spelled.append(kAlphabet[static_cast<unsigned char>(byte)]);
  return spelled;
}

int spelled_byte(UChar32 character) {
  for (int byte = 0; byte < kBytes; ++byte) {
    if (kAlphabet[static_cast<std::size_t>(byte)] == character) return byte;
  }
  return -1;
}

}  // namespace clearformer::tools
