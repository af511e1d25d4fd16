#include "clearformer/layers/directions.h"

#include <cmath>

namespace clearformer {

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void subtract_projections(const std::vector<Vector>& basis, Vector& x) {
  for (const Vector& direction : basis) {
    const double length = dot(direction, x);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= length * direction[i];
  }
}

// Gram-Schmidt; each row is projected twice, for accuracy ("twice is enough": Giraud et al. 2005).
std::vector<Vector> basis_of(const Tensor& rows, std::size_t width) {
  constexpr double kNothing = 1e-7;  // relative; the rows are float32
  std::vector<Vector> basis;
  for (std::size_t first = 0; first < rows.elements(); first += width) {
    Vector row(rows.f32() + first, rows.f32() + first + width);
    const double before = std::sqrt(dot(row, row));
    subtract_projections(basis, row);
    subtract_projections(basis, row);
    const double length = std::sqrt(dot(row, row));
    if (length <= kNothing * before) continue;
    for (double& number : row) number /= length;
    basis.push_back(std::move(row));
  }
  return basis;
}

}  // namespace clearformer
