// tokenizer.json's "decoder": from tokens back to text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "clearformer/weights/json.h"

namespace clearformer::tools {

/// Turns the tokens' spellings into text.
using Decode = std::function<std::string(std::vector<std::string>)>;

/// Null or absent: the tokens with spaces between them. Throws unsupported for a type it does not know.
Decode decoder_of(const Json* json);

/// Text without the spaces that word pieces leave before punctuation and English endings.
std::string cleaned_up(std::string text);

}  // namespace clearformer::tools
