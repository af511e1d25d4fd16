// tokenizer.json's "post_processor": the special tokens around a text.
#pragma once

#include "tools/tokenizer/token_model.h"

namespace clearformer::tools {

/// A text as a model reads it.
struct Encoding {
  Ids ids;
  Ids type_ids;
};

class PostProcessor {
 public:
  /// Null or absent: none. Throws unsupported for a type it does not know.
  explicit PostProcessor(const Json* json);

  /// How many special tokens come to a text.
  std::size_t added() const;
  Encoding process(const Ids& text) const;

 private:
  struct Slot {
    bool is_text = false;
    Ids special;
    std::int32_t type = 0;
  };
  void read(const Step& step);
  void read_template(const Step& step);

  std::vector<Slot> slots_;
};

}  // namespace clearformer::tools
