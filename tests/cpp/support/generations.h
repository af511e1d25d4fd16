// Runs generations to completion.
#pragma once

#include <string>
#include <vector>

#include "clearformer/generation/generation.h"
#include "support/generation_options.h"

namespace clearformer::test {

/// Inputs of a generation: ids (B, T), and a mask (B, T) or none.
inline ModelInputs inputs_of(const Tensor& ids, const Tensor* mask = nullptr) {
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  if (mask != nullptr) inputs.attention_mask = mask->view();
  return inputs;
}

/// Runs a generation to its end and returns the tokens of each row.
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

}  // namespace clearformer::test
