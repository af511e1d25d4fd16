// Directions in a space of features, in double: the basis of an edit that projects them out.
#pragma once

#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// A vector of features.
using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b);

/// x -= Σ b (b · x) over an orthonormal basis.
void subtract_projections(const std::vector<Vector>& basis, Vector& x);

/// An orthonormal basis of the rows' span (…, width). A row that those before it span adds no vector.
std::vector<Vector> basis_of(const Tensor& rows, std::size_t width);

}  // namespace clearformer
