// tokenizer.json's "pre_tokenizer": how a normalized text is cut into the words that the model sees one
// by one.
#pragma once

#include "tools/tokenizer/normalizers.h"

namespace clearformer::tools {

using PreTokenize = std::function<std::vector<Piece>(const Piece&)>;

/// The pre-tokenizer of a tokenizer.json; null or absent: the text is one word. Throws unsupported for
/// a type it does not know.
PreTokenize pre_tokenizer_of(const Json* json);

}  // namespace clearformer::tools
