// Common to tests of rotary positions: bounds, and conversion between the two layouts.
#pragma once

#include <string>
#include <vector>

#include "clearformer/layers/rotary_frequencies.h"
#include "support/closeness.h"

namespace clearformer::test {

/// Cosines and sines of angles in double, rounded to float: up to position 100,000 the angles differ by
/// 1e5·8·2^-53 < 1e-10, and the rounded values are at most adjacent.
inline constexpr Bound kAngleBound{1e-10, 2 * kRoundoff, 0.0};

double largest(TensorView x);

/// Bounds of x (…, d) rotated and multiplied by `factor`: the cosine, its product, the sum and the
/// rounded reference are 4 roundings, so γ(4)·factor·(|a| + |b|), plus the angle's error.
std::vector<double> rotation_bounds(TensorView x, const RotaryConfig& config, double factor);

/// Converts x (…, d) from the other layout to `layout`.
Tensor to_layout(TensorView x, RotaryLayout layout);

}  // namespace clearformer::test
