// A natively loaded model, run on generated inputs like those of tests/bench/contenders in JavaScript.
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
  std::size_t threads = 1, batch = 1, length = 1, past = 0;  // length: for an image, its side
};

class ModelRun {
 public:
  /// Loads the model. Throws unsupported for an unsupported dtype or number of threads.
  explicit ModelRun(const ModelWork& work);

  void run();
  /// A sample of its outputs, and their number.
  std::vector<float> sample(std::size_t& count);

 private:
  ModelOutputs forward();

  ModelWork work_;
  std::unique_ptr<Model> model_;
  Tensor input_;
  std::unique_ptr<KeyValueCache> cache_;
};

}  // namespace clearformer::bench
