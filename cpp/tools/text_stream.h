// TextStream: prints text while its tokens come, word by word: a word is printed when the next one has
// begun, since later tokens can still change it.
#pragma once

#include <ostream>

#include "tools/tokenizer/tokenizer.h"

namespace clearformer::tools {

class TextStream {
 public:
  TextStream(const Tokenizer& tokenizer, std::ostream& out) : tokenizer_(tokenizer), out_(out) {}

  void put(const Ids& ids);
  /// Prints the rest of the text and ends the line.
  void end();

 private:
  void print_to(std::size_t end);

  const Tokenizer& tokenizer_;
  std::ostream& out_;
  Ids ids_;
  std::string text_;
  std::size_t printed_ = 0;  // bytes
};

}  // namespace clearformer::tools
