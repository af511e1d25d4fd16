#include "tools/text_stream.h"

namespace clearformer::tools {

void TextStream::put(const Ids& ids) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  text_ = tokenizer_.decode(ids_);
  const std::size_t space = text_.find_last_of(" \n");
  if (space != std::string::npos) print_to(space);
}

void TextStream::end() {
  print_to(text_.size());
  out_ << "\n" << std::flush;
}

void TextStream::print_to(std::size_t end) {
  if (end <= printed_) return;
  out_ << text_.substr(printed_, end - printed_) << std::flush;
  printed_ = end;
}

}  // namespace clearformer::tools
