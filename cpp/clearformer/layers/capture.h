// What a capture keeps of an activation: a selected part, reduced.
#pragma once

#include <array>

#include "clearformer/layers/trace.h"

namespace clearformer {

using AxisFlags = std::array<bool, Shape::kMaxRank>;

/// The tensor reduced over the axes that are set, which keep an extent of 1: the mean, the largest number (NaN if there is
/// one), or the square root of the sum of squares. Sums are accumulated in double.
Tensor reduced(const TensorView& x, const AxisFlags& over, Capture::Reduction how);

/// What `capture` keeps of a value; without a value in a step of a generation that has none of the positions. For `prompts`
/// see apply() in edit.h. Throws invalid_argument.
Trace::Captured taken(const Capture& capture, const Offered& offered, std::size_t prompts);

}  // namespace clearformer
