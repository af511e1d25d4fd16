// Singular value decomposition:  X = U·diag(S)·Vh, with orthonormal columns of U and rows of Vh, S descending
// One-sided Jacobi: columns of X are rotated in pairs until all are orthogonal; their lengths are the singular values.
// In double precision: |S - exact| <= 1e-13·max(S), before the results are rounded to floats.
// Source: Hestenes 1958; Demmel & Veselić 1992, "Jacobi's method is more accurate than QR".
// Shapes: X (M, N), U (M, K), S (K), Vh (K, N), K = min(M, N).
#pragma once

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The factors of a matrix. Where a singular value is 0, the column of U and the row of Vh may be zeros.
struct Svd {
  Tensor u, s, vh;
};

/// The singular value decomposition of x (M, N). Throws shape_mismatch for tensors that are no matrices,
/// invalid_argument for numbers that are not finite.
Svd svd(const TensorView& x);
/// That of the product a·b of (M, R) and (R, N), which is not formed: K = min(M, R, N).
Svd svd(const TensorView& a, const TensorView& b);

}  // namespace clearformer
