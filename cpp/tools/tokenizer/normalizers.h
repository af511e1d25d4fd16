// tokenizer.json's "normalizer": what is done to a text before it is cut.
#pragma once

#include <functional>

#include "tools/tokenizer/unicode.h"

namespace clearformer::tools {

/// A part of the text on its way to the model.
struct Piece {
  icu::UnicodeString text;
  bool at_start = true;  // it begins where the original text begins
};

using Normalize = std::function<void(Piece&)>;

/// The normalizer of a tokenizer.json; null or absent: none. Throws unsupported for a type it does
/// not know.
Normalize normalizer_of(const Json* json);

/// SentencePiece's own normalizer, from its "precompiled_charsmap" (base64). Throws malformed_config
/// for what is none.
Normalize precompiled(std::string_view charsmap);

}  // namespace clearformer::tools
