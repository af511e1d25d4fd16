// Edit: applies an edit of activations, given as data, at a hook point.
#pragma once

#include "clearformer/layers/trace.h"

namespace clearformer {

/// Throws invalid_argument for an op whose value is missing, superfluous or without meaning.
void check(const Edit& edit);

/// Edits offered.value in place. `prompts` is the number of prompts if the pass is a step of a generation: the batch then
/// contains each of them once or more (its beams or sequences), which are one row to the edit, and positions outside
/// the value are ignored. In a pass by itself it is 0, and they are rejected.
void apply(const Edit& edit, const Offered& offered, std::size_t prompts);

}  // namespace clearformer
