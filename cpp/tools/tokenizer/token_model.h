// tokenizer.json's "model": from one word to its tokens. Byte-pair encoding, WordPiece, Unigram, WordLevel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/tokenizer/step.h"

namespace clearformer::tools {

/// Finds a std::string by a std::string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using Vocabulary = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;
using Ids = std::vector<std::int32_t>;

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  const Vocabulary& vocabulary() const { return ids_; }
  /// Appends the tokens of a word (UTF-8, not empty). Throws invalid_argument where no token stands
  /// for a part and there is no unknown token.
  virtual void tokenize(std::string_view word, Ids& to) const = 0;

 protected:
  /// Reads "vocab", a table or a list of [token, score], and the unknown token.
  explicit TokenModel(const Step& step);
  std::int32_t id_or_unknown(std::string_view token) const;
  /// Appends the tokens <0x00> … <0xFF> of the bytes, where they are asked for and the vocabulary has
  /// them all.
  bool append_bytes(std::string_view text, Ids& to) const;

  static constexpr std::int32_t kNone = -1;
  Vocabulary ids_;
  std::int32_t unknown_ = kNone;
  bool byte_fallback_ = false;
};

/// The model of a tokenizer.json. Throws unsupported for a type it does not know, malformed_config
/// for what is none.
std::unique_ptr<TokenModel> token_model_of(const Json& json);

std::unique_ptr<TokenModel> byte_pair_encoding(const Step& step);
std::unique_ptr<TokenModel> word_piece(const Step& step);
std::unique_ptr<TokenModel> unigram(const Step& step);

/// Bytes of the UTF-8 character that begins with `lead`.
inline std::size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace clearformer::tools
