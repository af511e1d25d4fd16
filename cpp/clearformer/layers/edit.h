// Edit: applies an edit of activations, given as data, at a hook point.
#pragma once

#include "clearformer/layers/trace.h"

namespace clearformer {

/// Whether positions outside the value are ignored (steps of a generation hold one position each) or rejected.
enum class Outside { ignored, refused };

/// Throws invalid_argument for an op whose value is missing or superfluous.
void check(const Edit& edit);

/// Edits offered.value in place.
void apply(const Edit& edit, const Offered& offered, Outside outside);

}  // namespace clearformer
