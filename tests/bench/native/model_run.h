// A model that is loaded natively and run on made-up inputs, as tests/bench/contenders does in JavaScript.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clearformer/models/model.h"

namespace clearformer::bench {

struct ModelWork {
  std::string task;                                          // encode, prefill, decode or image
  std::string folder;                                        // a Hugging Face folder
  std::string dtype;                                         // fp32, …
  std::size_t threads = 1, batch = 1, length = 1, past = 0;  // length: of an image, its side
};

class ModelRun {
 public:
  /// Loads the model. Throws unsupported for a dtype or threads the library has not.
  explicit ModelRun(const ModelWork& work);

  void run();
  /// Some of what it computes, and how many numbers there are.
  std::vector<float> sample(std::size_t& count);

 private:
  ModelOutputs forward();

  ModelWork work_;
  std::unique_ptr<Model> model_;
  Tensor input_;
  std::unique_ptr<KeyValueCache> cache_;
};

}  // namespace clearformer::bench
