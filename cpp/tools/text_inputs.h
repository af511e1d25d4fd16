// TextInputs: one text as the inputs of an encoder, its token types where the model has some.
#pragma once

#include "clearformer/models/model.h"
#include "tools/token_tensor.h"
#include "tools/tokenizer/tokenizer.h"

namespace clearformer::tools {

class TextInputs {
 public:
  TextInputs(const Model& model, const Encoding& encoding)
      : ids_(token_tensor(encoding.ids)), types_(token_tensor(encoding.type_ids)) {
    const auto& text = model.config().tower.text;
    has_types_ = text && text->token_types != 0;
  }

  /// Views of this object's tensors.
  ModelInputs inputs() const {
    ModelInputs inputs;
    inputs.input_ids = ids_.view();
    if (has_types_) inputs.token_type_ids = types_.view();
    return inputs;
  }

 private:
  Tensor ids_, types_;  // (1, T)
  bool has_types_ = false;
};

}  // namespace clearformer::tools
