// Added tokens such as <s> or [MASK]: they are found in the text before the model sees it, and never taken
// apart.
#pragma once

#include <map>
#include <optional>

#include "tools/tokenizer/normalizers.h"

namespace clearformer::tools {

/// One entry of tokenizer.json's "added_tokens".
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool single_word = false;
  bool lstrip = false;  // spaces to its left belong to the token
  bool rstrip = false;
  bool normalized = false;  // looked for after normalization, in the normalized spelling
  bool special = false;
};

/// Reads the list; absent: none.
std::vector<AddedToken> read_added_tokens(const Json* json);

class AddedTokens {
 public:
  AddedTokens(const std::vector<AddedToken>& tokens, const Normalize& normalize);

  /// A piece of the text: an added token, or normalized text between them.
  struct Found {
    Piece piece;
    std::optional<std::int32_t> id;
  };
  std::vector<Found> split(const icu::UnicodeString& text) const;

 private:
  struct Spelled {
    icu::UnicodeString spelling;
    AddedToken token;
  };
  /// By their first code unit, the longest first.
  using Spellings = std::map<char16_t, std::vector<Spelled>>;

  static void cut(const Piece& piece, const Spellings& spellings, std::vector<Found>& to);

  Normalize normalize_;
  Spellings raw_, normalized_;
};

}  // namespace clearformer::tools
