// Tokenizer: text to ids and back, as a checkpoint's tokenizer.json says.
// Its truncation and padding are not applied: whoever calls knows the model's limits.
// Source: the format of github.com/huggingface/tokenizers.
#pragma once

#include <optional>

#include "tools/tokenizer/added_tokens.h"
#include "tools/tokenizer/decoder.h"
#include "tools/tokenizer/post_processor.h"
#include "tools/tokenizer/pre_tokenizers.h"

namespace clearformer::tools {

enum class SpecialTokens { keep, skip };

class Tokenizer {
 public:
  /// Reads a tokenizer.json and, where there is one, a tokenizer_config.json. Throws malformed_config
  /// for what breaks the format, unsupported, by name, for a step it does not know.
  explicit Tokenizer(const Json& json, const Json& config = Json());

  /// Ids with the special tokens around them. At most `max_length` ids: the text's last tokens go;
  /// none: all. `truncated`, where given, says whether some went.
  Encoding encode(std::string_view text, std::optional<std::size_t> max_length = std::nullopt,
                  bool* truncated = nullptr) const;
  /// An id without a token stands for nothing, as upstream.
  std::string decode(const Ids& ids, SpecialTokens special = SpecialTokens::skip) const;
  /// The vocabulary's spelling; empty where no token has this id.
  std::string token(std::int32_t id) const;
  /// The largest id of a token; -1 without any.
  std::int64_t largest_id() const;

 private:
  Ids ids_of(std::string_view text) const;

  std::unique_ptr<TokenModel> model_;
  std::vector<AddedToken> added_;
  std::optional<AddedTokens> finder_;
  PreTokenize pre_tokenize_;
  std::optional<PostProcessor> post_process_;
  Decode decode_;
  bool clean_up_ = false;
  std::unordered_map<std::int32_t, std::string> spellings_;
  std::unordered_map<std::int32_t, bool> special_;
};

/// The tokenizer of a folder. Throws invalid_argument when it has no tokenizer.json.
Tokenizer read_tokenizer(const std::string& folder);

}  // namespace clearformer::tools
