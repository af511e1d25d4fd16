// A model's inputs, converted from JavaScript.
#pragma once

#include "bindings/functions.h"

namespace clearformer::bindings {

/// The inputs among the arguments, under Hugging Face's names, with ownership of their data.
class GivenInputs {
 public:
  /// Throws dtype_mismatch or invalid_argument, naming the input.
  explicit GivenInputs(const Arguments& arguments);
  GivenInputs(const GivenInputs&) = delete;
  GivenInputs& operator=(const GivenInputs&) = delete;

  ModelInputs inputs;                    // inputs.cache is that of past_key_values
  std::shared_ptr<KeyValueCache> cache;  // null if none was given

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace clearformer::bindings
