// Edit: how a change of activations that is said as data is carried out at a hook point.
#pragma once

#include "clearformer/layers/trace.h"

namespace clearformer {

/// What becomes of positions that the value does not hold: the steps of a generation hold one each.
enum class Outside { ignored, refused };

/// Throws invalid_argument for an op without the value it needs or with one it has no use for.
void check(const Edit& edit);

/// Changes offered.value in place.
void apply(const Edit& edit, const Offered& offered, Outside outside);

}  // namespace clearformer
