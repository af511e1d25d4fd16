// Generations to their end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "clearformer/generation/generation.h"
#include "clearformer/loading/load_model.h"
#include "support/files.h"
#include "support/generation_options.h"
#include "support/model_runs.h"

namespace clearformer::test {

/// Inputs of a generation: ids (B, T), and a mask (B, T) or none.
inline ModelInputs inputs_of(const Tensor& ids, const Tensor* mask = nullptr) {
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  if (mask != nullptr) inputs.attention_mask = mask->view();
  return inputs;
}

/// Steps of a generation up to its end, tokens of each row.
inline std::vector<TokenIds> run(Generation& generation) {
  std::vector<TokenIds> rows;
  while (!generation.done()) {
    const Generation::Step step = generation.next();
    rows.resize(step.tokens.size());
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row].push_back(step.tokens[row]);
  }
  return rows;
}

inline std::vector<TokenIds> generate(Model& model, const Tensor& ids,
                                      const GenerationConfig& config,
                                      const Tensor* mask = nullptr) {
  Generation generation(model, inputs_of(ids, mask), config);
  return run(generation);
}

/// Generations of the bundled story model.
class GenerationOf : public ::testing::Test {
 protected:
  std::vector<TokenIds> generated(const Tensor& ids, const std::string& json,
                                  const Tensor* mask = nullptr) {
    return generate(model, ids, options(json), mask);
  }
  std::unique_ptr<Model> loaded = from_pretrained(bundled_model("stories260K"));
  Model& model = *loaded;  // 512 words, 512 positions
  Tensor prompt = tokens({1, 403, 407, 261, 378});
};

}  // namespace clearformer::test
