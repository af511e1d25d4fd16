// What the tests of rotary positions share: bounds, and the two layouts turned into each other.
#pragma once

#include <string>
#include <vector>

#include "clearformer/layers/rotary_frequencies.h"
#include "support/closeness.h"

namespace clearformer::test {

/// Cosines and sines of angles in double, rounded to float: to position 100,000 the angles differ by
/// 1e5·8·2^-53 < 1e-10, and the rounded values are neighbours at most.
inline constexpr Bound kAngleBound{1e-10, 2 * kRoundoff, 0.0};

double largest(TensorView x);

/// Bounds of x (…, d) turned and multiplied by `factor`: the cosine, its product, the sum and the
/// rounded expectation are 4 roundings, so γ(4)·factor·(|a| + |b|), and the angle's error on top.
std::vector<double> rotation_bounds(TensorView x, const RotaryConfig& config, double factor);

/// x (…, d) in the other layout, reordered to `layout`.
Tensor to_layout(TensorView x, RotaryLayout layout);

}  // namespace clearformer::test
