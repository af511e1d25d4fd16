// The fixture of tests that generate with the bundled story model.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "clearformer/loading/load_model.h"
#include "support/files.h"
#include "support/generations.h"
#include "support/model_runs.h"

namespace clearformer::test {

/// Generations of the bundled story model.
class GenerationOf : public ::testing::Test {
 protected:
  std::vector<TokenIds> generated(const Tensor& ids, const std::string& json,
                                  const Tensor* mask = nullptr) {
    return generate(model, ids, options(json), mask);
  }
  std::unique_ptr<Model> loaded = from_pretrained(bundled_model("stories260K"));
  Model& model = *loaded;  // 512 tokens, 512 positions
  Tensor prompt = tokens({1, 403, 407, 261, 378});
};

}  // namespace clearformer::test
