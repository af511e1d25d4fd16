#include <algorithm>
#include <vector>

#include "clearformer/layers/directions.h"
#include "clearformer/layers/edit.h"
#include "clearformer/layers/edit_region.h"

namespace clearformer {

namespace {

// The index of an element among the means over batch and positions.
std::size_t mean_index(std::size_t element, const EditAxes& axes, const SelectedRegion& region,
                       const Shape& tensor) {
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    if (axis == axes.batch || axis == axes.position) continue;
    index = index * tensor[axis] + element / region.strides[axis] % tensor[axis];
  }
  return index;
}

void average_back(const Offered& gradient, const EditAxes& axes, const SelectedRegion& region) {
  const Shape& shape = gradient.value.shape();
  float* const d = gradient.value.f32();
  std::size_t count = 1;  // positions that a mean is over
  if (axes.batch) count *= shape[*axes.batch];
  if (axes.position) count *= shape[*axes.position];
  std::vector<double> sums(shape.elements() / count, 0.0);
  for (RegionWalk at(region); at; at.advance()) {
    sums[mean_index(at.element, axes, region, shape)] += d[at.element];
    d[at.element] = 0.0f;
  }
  for (std::size_t i = 0; i < shape.elements(); ++i) {
    d[i] +=
        static_cast<float>(sums[mean_index(i, axes, region, shape)] / static_cast<double>(count));
  }
}

void clamp_back(const Edit& edit, const Offered& gradient, const SelectedRegion& region,
                const Tensor& before) {
  const Operand low(edit.min, edit, gradient, region), high(edit.max, edit, gradient, region);
  for (RegionWalk at(region); at; at.advance()) {
    const float value = before.f32()[at.element];
    const bool outside = (low && value < low.at(at.places)) || (high && value > high.at(at.places));
    if (outside) gradient.value.f32()[at.element] = 0.0f;
  }
}

// e with e · v = 1 for the direction of that index, in the directions' span and orthogonal to all others.
Vector dual_of(const Edit& edit, std::size_t index, const Offered& at) {
  Tensor rows = edit.value.clone();
  const std::size_t width = rows.shape().back(0), count = rows.elements() / width;
  float* const last = rows.f32() + (count - 1) * width;
  std::swap_ranges(last, last + width, rows.f32() + index * width);
  const std::vector<Vector> basis = basis_of(rows, width);
  if (basis.size() < count) {
    fail(ErrorCode::invalid_argument, "gradient: the directions at ", at.name,
         " depend on each other");
  }
  Vector dual = basis.back();
  const double length = dot(dual, Vector(last, last + width));
  for (double& number : dual) number /= length;
  return dual;
}

// dv = -Σ (e · dy) x' + (e · x) dy' over the vectors x, with x' and dy' what the projection leaves of x and dy.
Tensor direction_gradients(const Edit& edit, const Offered& gradient, const SelectedRegion& region,
                           const Tensor& before) {
  Tensor x = before.clone(), d = Tensor::copy_of(gradient.value);
  apply(edit, {gradient.name, gradient.legend, x, gradient.past}, {});
  apply(edit, {gradient.name, gradient.legend, d, gradient.past}, {});
  Tensor result(edit.value.shape());
  const std::size_t width = result.shape().back(0);
  for (std::size_t first = 0; first < result.elements(); first += width) {
    const Vector dual = dual_of(edit, first / width, gradient);
    Vector sums(width, 0.0);
    std::vector<std::size_t> elements;
    for (RegionWalk walk(region); walk; walk.advance()) {
      elements.push_back(walk.element);
      if (elements.size() < width) continue;
      double of_x = 0.0, of_d = 0.0;
      for (std::size_t i = 0; i < width; ++i) {
        of_x += dual[i] * before.f32()[elements[i]];
        of_d += dual[i] * gradient.value.f32()[elements[i]];
      }
      for (std::size_t i = 0; i < width; ++i) {
        sums[i] -= of_d * x.f32()[elements[i]] + of_x * d.f32()[elements[i]];
      }
      elements.clear();
    }
    std::copy(sums.begin(), sums.end(), result.f32() + first);
  }
  return result;
}

}  // namespace

void apply_back(const Edit& edit, const Offered& gradient, const Tensor* before) {
  using Op = Edit::Op;
  const EditAxes axes(gradient.legend);
  const SelectedRegion region = region_of(edit, gradient, axes);
  if (edit.op == Op::add || edit.op == Op::noise || region.shape.elements() == 0) return;
  if (edit.op == Op::project_out) return apply(edit, gradient, {});
  if (edit.op == Op::clamp) return clamp_back(edit, gradient, region, *before);
  if (edit.op == Op::mean && edit.value.empty()) return average_back(gradient, axes, region);
  float* const d = gradient.value.f32();
  const Operand value(edit.value, edit, gradient, region);
  for (RegionWalk at(region); at; at.advance()) {
    d[at.element] = edit.op == Op::scale ? d[at.element] * value.at(at.places) : 0.0f;
  }
}

Tensor value_gradient(const Edit& edit, const Offered& gradient, const Tensor* before) {
  using Op = Edit::Op;
  const EditAxes axes(gradient.legend);
  const SelectedRegion region = region_of(edit, gradient, axes);
  if (edit.op == Op::project_out) return direction_gradients(edit, gradient, region, *before);
  const EditNoise noise(edit, gradient, axes, region);
  const Shape& shape = edit.value.shape();
  const std::size_t leading = region.shape.rank() - shape.rank();
  std::vector<double> sums(shape.elements(), 0.0);
  for (RegionWalk at(region); at; at.advance()) {
    std::size_t of = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      of = of * shape[axis] + (shape[axis] == 1 ? 0 : at.places[leading + axis]);
    }
    double factor = before != nullptr ? before->f32()[at.element] : 1.0;
    if (edit.op == Op::noise) factor = noise.at(at);
    sums[of] += factor * gradient.value.f32()[at.element];
  }
  Tensor result(shape);
  std::copy(sums.begin(), sums.end(), result.f32());
  return result;
}

}  // namespace clearformer
