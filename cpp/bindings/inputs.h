// Inputs of a model as they come over the border.
#pragma once

#include "bindings/functions.h"

namespace clearformer::bindings {

/// The inputs that arguments hold under Hugging Face's names, and what keeps them alive.
class GivenInputs {
 public:
  /// Throws dtype_mismatch or invalid_argument by the input's name.
  explicit GivenInputs(const Arguments& arguments);
  GivenInputs(const GivenInputs&) = delete;
  GivenInputs& operator=(const GivenInputs&) = delete;

  ModelInputs inputs;                    // inputs.cache: that of past_key_values
  std::shared_ptr<KeyValueCache> cache;  // null where none was given

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace clearformer::bindings
