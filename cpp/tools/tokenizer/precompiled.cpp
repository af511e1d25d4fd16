// SentencePiece's own normalizer: a table from short strings to their replacements, stored as a double
// array of bytes followed by the replacements, each ended by a zero byte.
// Source: github.com/s-yata/darts-clone; sentencepiece's src/normalizer.cc.
#include <unicode/brkiter.h>

#include <optional>

#include "tools/tokenizer/normalizers.h"

namespace clearformer::tools {

namespace {

constexpr std::int32_t kLongestCluster = 5;  // bytes of a grapheme that is looked up as a whole

int base64_digit(char character) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t digit = kDigits.find(character);
  return digit == std::string_view::npos ? -1 : static_cast<int>(digit);
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char character : text) {
    if (character == '=') break;
    const int digit = base64_digit(character);
    if (digit < 0) return "";
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  }
  return value;
}

struct Table {
  explicit Table(std::string_view charsmap) {
    const std::string bytes = from_base64(charsmap);
    const std::size_t size = bytes.size() < 4 ? 0 : little_endian(bytes);
    if (size == 0 || size % 4 != 0 || 4 + size > bytes.size()) {
      fail(ErrorCode::malformed_config, "tokenizer.json: precompiled_charsmap is no table");
    }
    for (std::size_t at = 4; at < 4 + size; at += 4) {
      units.push_back(little_endian(std::string_view(bytes).substr(at, 4)));
    }
    texts = bytes.substr(4 + size);
  }

  /// What replaces the shortest prefix of `text` that the table holds.
  std::optional<std::string> find(std::string_view text) const {
    const auto offset = [](std::uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); };
    std::uint32_t node = offset(units[0]);
    for (const char character : text) {
      const std::uint32_t byte = static_cast<unsigned char>(character);
      node ^= byte;
      // Bits 0-7 are the label, bit 8 whether a value follows, bits 9 and 10-30 the offset.
      if (node >= units.size() || (units[node] & 0x800000ff) != byte) return std::nullopt;
      const bool ends = (units[node] >> 8 & 1) != 0;
      node ^= offset(units[node]);
      if (ends && node < units.size()) return replacement(units[node] & 0x7fffffff);
    }
    return std::nullopt;
  }

  std::optional<std::string> replacement(std::size_t at) const {
    if (at >= texts.size()) return std::nullopt;
    return texts.substr(at, texts.find('\0', at) - at);
  }

  std::vector<std::uint32_t> units;
  std::string texts;
};

void replace_grapheme(const Table& table, const icu::UnicodeString& grapheme,
                      icu::UnicodeString& to) {
  const std::string utf8 = to_utf8(grapheme);
  if (utf8.size() <= static_cast<std::size_t>(kLongestCluster)) {
    if (const auto whole = table.find(utf8)) {
      to.append(from_utf8(*whole));
      return;
    }
  }
  to.append(each_character(grapheme, [&](UChar32 character, icu::UnicodeString& changed) {
    const auto found = table.find(to_utf8(character));
    if (found) {
      changed.append(from_utf8(*found));
    } else {
      changed.append(character);
    }
  }));
}

}  // namespace

Normalize precompiled(std::string_view charsmap) {
  const auto table = std::make_shared<const Table>(charsmap);
  UErrorCode status = U_ZERO_ERROR;
  const std::shared_ptr<icu::BreakIterator> graphemes(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  if (U_FAILURE(status)) {
    fail(ErrorCode::unsupported,
         "tokenizer.json: normalizer Precompiled: ICU finds no graphemes: ", u_errorName(status));
  }
  return [table, graphemes](Piece& piece) {
    icu::UnicodeString changed;
    graphemes->setText(piece.text);
    std::int32_t from = graphemes->first();
    for (std::int32_t to = graphemes->next(); to != icu::BreakIterator::DONE;
         from = to, to = graphemes->next()) {
      replace_grapheme(*table, icu::UnicodeString(piece.text, from, to - from), changed);
      if (from == 0 && changed.isEmpty()) piece.at_start = false;
    }
    piece.text = changed;
  };
}

}  // namespace clearformer::tools
