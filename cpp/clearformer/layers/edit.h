// Edit: applies an edit of activations, given as data, at a hook point.
#pragma once

#include "clearformer/layers/trace.h"

namespace clearformer {

/// Throws invalid_argument for an op whose value is missing, superfluous or without meaning.
void check(const Edit& edit);

/// Edits offered.value in place. If the pass is a step of a generation, the batch contains each prompt once or more (its
/// beams or sequences), which are one row to the edit, and positions outside the value are ignored if another step may
/// have them. Else they are rejected.
void apply(const Edit& edit, const Offered& offered, const Steps& steps);

/// Turns gradient.value, the gradient of a value after the edit, into that of the value before it:
///   zero, replace, mean with a value: 0; scale: multiplied by the value; add, noise: as it is; project_out: the same
///   projection; clamp: 0 outside of the limits; mean: what the region gives up, Σ_region / N, is added everywhere
/// before: the value before the edit; for clamp.
void apply_back(const Edit& edit, const Offered& gradient, const Tensor* before);
/// The gradient of edit.value, of its shape: that of the edited region, multiplied by what was scaled or by the noise
/// drawn, summed over the axes along which the value is broadcast. For each direction v of project_out, of those vectors x:
///   dv = -Σ (e·dy) x' + (e·x) dy', x' and dy' without their projections, e in the directions' span: 1 with v, else 0
/// before: the value before the edit; for scale and project_out. Throws invalid_argument for directions that depend
/// on each other: the space that they span changes abruptly.
Tensor value_gradient(const Edit& edit, const Offered& gradient, const Tensor* before);

}  // namespace clearformer
