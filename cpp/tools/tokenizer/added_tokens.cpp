#include "tools/tokenizer/added_tokens.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "tools/tokenizer/step.h"

namespace clearformer::tools {

namespace {

bool flag(const Json& token, std::string_view key, bool fallback) {
  const Json* value = token.find_set(key);
  return value == nullptr || !value->is_bool() ? fallback : value->boolean();
}

bool stands_alone(const icu::UnicodeString& text, std::int32_t from, std::int32_t to) {
  const bool word_before = from > 0 && is_word_character(text.char32At(text.moveIndex32(from, -1)));
  return !word_before && !(to < text.length() && is_word_character(text.char32At(to)));
}

}  // namespace

std::vector<AddedToken> read_added_tokens(const Json* json) {
  std::vector<AddedToken> tokens;
  if (json == nullptr || json->is_null()) return tokens;
  if (!json->is_array()) {
    fail(ErrorCode::malformed_config, "tokenizer.json: \"added_tokens\" must be a list");
  }
  for (const Json& entry : json->array()) {
    const Json* id = entry.find("id");
    const Json* content = entry.find("content");
    const auto number = id == nullptr ? std::nullopt : id->unsigned_integer();
    if (!number || *number > 0x7fffffff || content == nullptr || !content->is_string()) {
      fail(ErrorCode::malformed_config, "tokenizer.json: an added token lacks its id or content");
    }
    const bool special = flag(entry, "special", false);
    tokens.push_back({static_cast<std::int32_t>(*number), content->string(),
                      flag(entry, "single_word", false), flag(entry, "lstrip", false),
                      flag(entry, "rstrip", false), flag(entry, "normalized", !special), special});
  }
  return tokens;
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, const Normalize& normalize)
    : normalize_(normalize) {
  for (const AddedToken& token : tokens) {
    Piece spelling{from_utf8(token.content)};
    if (token.normalized) normalize_(spelling);
    if (spelling.text.isEmpty()) continue;
    Spellings& spellings = token.normalized ? normalized_ : raw_;
    spellings[spelling.text.charAt(0)].push_back({spelling.text, token});
  }
  for (Spellings* spellings : {&raw_, &normalized_}) {
    for (auto& [first, list] : *spellings) {
      std::stable_sort(list.begin(), list.end(), [](const Spelled& a, const Spelled& b) {
        return a.spelling.length() > b.spelling.length();
      });
    }
  }
}

std::vector<AddedTokens::Found> AddedTokens::split(const icu::UnicodeString& text) const {
  std::vector<Found> raw, all;
  cut({text}, raw_, raw);
  for (Found& found : raw) {
    if (found.id) {
      all.push_back(std::move(found));
      continue;
    }
    normalize_(found.piece);
    cut(found.piece, normalized_, all);
  }
  return all;
}

void AddedTokens::cut(const Piece& piece, const Spellings& spellings, std::vector<Found>& to) {
  const icu::UnicodeString& text = piece.text;
  std::int32_t last = 0;
  const auto add = [&](std::int32_t from, std::int32_t end, std::optional<std::int32_t> id) {
    if (from == end) return;
    to.push_back({{icu::UnicodeString(text, from, end - from), piece.at_start && from == 0}, id});
  };
  for (std::int32_t at = 0; at < text.length();) {
    const auto list = spellings.find(text.charAt(at));
    const Spelled* match = nullptr;
    for (std::size_t i = 0; list != spellings.end() && i < list->second.size(); ++i) {
      const icu::UnicodeString& spelling = list->second[i].spelling;
      if (text.compare(at, spelling.length(), spelling) == 0) {
        match = &list->second[i];
        break;
      }
    }
    if (match == nullptr) {
      ++at;
      continue;
    }
    const std::int32_t from = at;
    at += match->spelling.length();
    if (match->token.single_word && !stands_alone(text, from, at)) continue;
    std::int32_t left = from;
    while (match->token.lstrip && left > last && u_isUWhiteSpace(text.charAt(left - 1))) --left;
    while (match->token.rstrip && at < text.length() && u_isUWhiteSpace(text.charAt(at))) ++at;
    add(last, left, std::nullopt);
    add(left, at, match->token.id);
    last = at;
  }
  add(last, text.length(), std::nullopt);
}

}  // namespace clearformer::tools
