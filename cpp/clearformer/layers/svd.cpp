#include "clearformer/layers/svd.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace clearformer {

namespace {

// A matrix by columns, in double.
struct Columns {
  std::size_t length = 0, count = 0;
  std::vector<double> numbers = std::vector<double>(room_for(Shape{length, count}.elements()));

  double* operator[](std::size_t column) { return numbers.data() + column * length; }
  const double* operator[](std::size_t column) const { return numbers.data() + column * length; }
};

Columns columns_of(const TensorView& x) {
  Columns columns{x.dim(0), x.dim(1)};
  for (std::size_t i = 0; i < x.elements(); ++i) {
    columns[i % columns.count][i / columns.count] = x.f32()[i];
  }
  return columns;
}

Columns rows_of(const TensorView& x) {
  Columns columns{x.dim(1), x.dim(0)};
  std::copy_n(x.f32(), x.elements(), columns.numbers.begin());
  return columns;
}

Columns identity(std::size_t size) {
  Columns columns{size, size};
  for (std::size_t i = 0; i < size; ++i) columns[i][i] = 1.0;
  return columns;
}

double dot(const double* a, const double* b, std::size_t count) {
  return std::inner_product(a, a + count, b, 0.0);
}

void rotate_pair(double* p, double* q, std::size_t count, double cosine, double sine) {
  for (std::size_t i = 0; i < count; ++i) {
    const double first = p[i], second = q[i];
    p[i] = cosine * first - sine * second;
    q[i] = sine * first + cosine * second;
  }
}

// Rotates the columns of g until they are orthogonal, and those of v with them; then g = (g before)·v.
void orthogonalize(Columns& g, Columns& v) {
  constexpr double kOrthogonal = 1e-15;
  constexpr int kMostSweeps = 60;  // about ten suffice
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMostSweeps; ++sweep) {
    rotated = false;
    for (std::size_t p = 0; p + 1 < g.count; ++p) {
      for (std::size_t q = p + 1; q < g.count; ++q) {
        const double a = dot(g[p], g[p], g.length), b = dot(g[q], g[q], g.length);
        const double c = dot(g[p], g[q], g.length);
        if (!(std::fabs(c) > kOrthogonal * std::sqrt(a) * std::sqrt(b))) continue;
        rotated = true;
        const double zeta = (b - a) / (2.0 * c);
        const double tangent =
            (zeta < 0.0 ? -1.0 : 1.0) / (std::fabs(zeta) + std::sqrt(1.0 + zeta * zeta));
        const double cosine = 1.0 / std::sqrt(1.0 + tangent * tangent);
        rotate_pair(g[p], g[q], g.length, cosine, cosine * tangent);
        rotate_pair(v[p], v[q], v.length, cosine, cosine * tangent);
      }
    }
  }
}

// The lengths of the columns, which become unit vectors, or zeros.
std::vector<double> normalize(Columns& g) {
  std::vector<double> lengths(g.count);
  for (std::size_t column = 0; column < g.count; ++column) {
    const double length = lengths[column] = std::sqrt(dot(g[column], g[column], g.length));
    if (!std::isfinite(length)) fail(ErrorCode::invalid_argument, "svd: a number is not finite");
    for (std::size_t i = 0; length != 0.0 && i < g.length; ++i) g[column][i] /= length;
  }
  return lengths;
}

// The K largest in descending order: columns of u, values of s, columns of v as rows of Vh.
Svd sorted(const Columns& u, std::vector<double> s, const Columns& v, std::size_t most) {
  Svd result{Tensor({u.length, most}), Tensor({most}), Tensor({most, v.length})};
  for (std::size_t k = 0; k < most; ++k) {
    const auto largest = std::max_element(s.begin(), s.end());
    const auto from = static_cast<std::size_t>(largest - s.begin());
    result.s.f32()[k] = static_cast<float>(*largest);
    *largest = -1.0;  // taken
    for (std::size_t i = 0; i < u.length; ++i) {
      result.u.f32()[i * most + k] = static_cast<float>(u[from][i]);
    }
    std::copy_n(v[from], v.length, result.vh.f32() + k * v.length);
  }
  return result;
}

// from·by, whose columns are combinations of from's.
Columns product(const Columns& from, const Columns& by) {
  Columns out{from.length, by.count};
  for (std::size_t column = 0; column < by.count; ++column) {
    for (std::size_t k = 0; k < from.count; ++k) {
      const double factor = by[column][k];
      for (std::size_t i = 0; i < from.length; ++i) out[column][i] += factor * from[k][i];
    }
  }
  return out;
}

void expect_matrix(const TensorView& x) {
  if (x.shape().rank() == 2) return;
  fail(ErrorCode::shape_mismatch, "svd: a tensor of shape ", x.shape().text(), " is no matrix");
}

}  // namespace

Svd svd(const TensorView& x) {
  expect_matrix(x);
  const bool wide = x.dim(0) < x.dim(1);  // then the rows are fewer, and are rotated
  Columns g = wide ? rows_of(x) : columns_of(x), v = identity(g.count);
  orthogonalize(g, v);
  const std::vector<double> s = normalize(g);
  return wide ? sorted(v, s, g, g.count) : sorted(g, s, v, g.count);
}

Svd svd(const TensorView& a, const TensorView& b) {
  expect_matrix(a);
  expect_matrix(b);
  if (a.dim(1) != b.dim(0)) {
    fail(ErrorCode::shape_mismatch, "svd: ", a.shape().text(), " and ", b.shape().text(),
         " have no product");
  }
  // b = v·diag(s)·gᵀ, so that a·b = (a·v·diag(s))·gᵀ, whose first factor has few columns.
  Columns g = rows_of(b), v = identity(g.count);
  orthogonalize(g, v);
  const std::vector<double> s = normalize(g);
  Columns left = product(columns_of(a), v);
  for (std::size_t column = 0; column < left.count; ++column) {
    for (std::size_t i = 0; i < left.length; ++i) left[column][i] *= s[column];
  }
  Columns turn = identity(left.count);
  orthogonalize(left, turn);
  const std::vector<double> values = normalize(left);
  return sorted(left, values, product(g, turn), std::min({a.dim(0), a.dim(1), b.dim(1)}));
}

}  // namespace clearformer
