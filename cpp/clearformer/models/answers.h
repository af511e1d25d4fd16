// Answers to questions: a head's outputs (B, T, 2) say of each position how well an answer begins and ends there.
// Source: Devlin et al. 2018, arXiv 1810.04805, section 4.2. Outputs: start_logits, end_logits (B, T).
#pragma once

#include "clearformer/models/model.h"

namespace clearformer {

/// Adds both columns of a head's outputs (B, T, 2) as start_logits and end_logits.
void add_answers(const Tensor& logits, ModelOutputs& outputs);

/// The gradient of the head's outputs from those of start_logits and end_logits, both of this shape or empty: zeros.
Tensor answers_back(const Shape& shape, const Tensor& starts, const Tensor& ends);

}  // namespace clearformer
