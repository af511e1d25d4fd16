#include <vector>

#include "clearformer/layers/edit.h"
#include "clearformer/layers/edit_region.h"

namespace clearformer {

namespace {

// The index of an element among the means over batch and positions.
std::size_t mean_index(std::size_t element, const EditAxes& axes, const Region& region,
                       const Shape& tensor) {
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    if (axis == axes.batch || axis == axes.position) continue;
    index = index * tensor[axis] + element / region.strides[axis] % tensor[axis];
  }
  return index;
}

void average_back(const Offered& gradient, const EditAxes& axes, const Region& region) {
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

void clamp_back(const Edit& edit, const Offered& gradient, const Region& region,
                const Tensor& before) {
  const Operand low(edit.min, edit, gradient, region), high(edit.max, edit, gradient, region);
  for (RegionWalk at(region); at; at.advance()) {
    const float value = before.f32()[at.element];
    const bool outside = (low && value < low.at(at.places)) || (high && value > high.at(at.places));
    if (outside) gradient.value.f32()[at.element] = 0.0f;
  }
}

// What noise of a standard deviation of 1 adds.
Tensor unit_noise(const Edit& edit, const Offered& at) {
  Edit unit;
  unit.op = Edit::Op::noise;
  unit.rows = edit.rows;
  unit.heads = edit.heads;
  unit.positions = edit.positions;
  unit.key_positions = edit.key_positions;
  unit.features = edit.features;
  unit.seed = edit.seed;
  unit.value = Tensor({1});
  *unit.value.f32() = 1.0f;
  Tensor noise = Tensor::zeros(at.value.shape());
  apply(unit, {at.name, at.legend, noise, at.past}, 0);
  return noise;
}

}  // namespace

void apply_back(const Edit& edit, const Offered& gradient, const Tensor* before) {
  using Op = Edit::Op;
  const EditAxes axes(gradient.legend);
  const Region region = region_of(edit, gradient, axes, 0);
  if (edit.op == Op::add || edit.op == Op::noise || region.shape.elements() == 0) return;
  if (edit.op == Op::project_out) return apply(edit, gradient, 0);
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
  if (edit.op == Op::project_out) {
    fail(ErrorCode::unsupported, "gradient: that of the value of ", described(edit, gradient.name));
  }
  const Region region = region_of(edit, gradient, EditAxes(gradient.legend), 0);
  Tensor noise;
  if (edit.op == Op::noise) {
    noise = unit_noise(edit, gradient);
    before = &noise;
  }
  const Shape& shape = edit.value.shape();
  const std::size_t leading = region.shape.rank() - shape.rank();
  std::vector<double> sums(shape.elements(), 0.0);
  for (RegionWalk at(region); at; at.advance()) {
    std::size_t of = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      of = of * shape[axis] + (shape[axis] == 1 ? 0 : at.places[leading + axis]);
    }
    const double factor = before != nullptr ? before->f32()[at.element] : 1.0;
    sums[of] += factor * gradient.value.f32()[at.element];
  }
  Tensor result(shape);
  for (std::size_t i = 0; i < sums.size(); ++i) result.f32()[i] = static_cast<float>(sums[i]);
  return result;
}

}  // namespace clearformer
