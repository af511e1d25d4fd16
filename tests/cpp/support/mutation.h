// Random mutations of a text: flipped, dropped, duplicated and swapped bytes, hostile numbers and tokens.
#pragma once

#include <string>

#include "support/random.h"

namespace clearformer::test {

/// `text` with one to four random mutations.
std::string mutated(std::string text, Random& random);

}  // namespace clearformer::test
