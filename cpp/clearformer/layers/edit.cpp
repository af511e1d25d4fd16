#include "clearformer/layers/edit.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "clearformer/layers/capture.h"
#include "clearformer/layers/directions.h"
#include "clearformer/layers/edit_region.h"

namespace clearformer {

namespace {

constexpr std::string_view kOps[] = {"zero",    "mean",  "scale",       "add",
                                     "replace", "noise", "project_out", "clamp"};
constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;

// The mean over batch and positions, with those axes kept as extents of 1.
Tensor mean_of(const MutableTensorView& x, const EditAxes& axes) {
  AxisFlags over = {};
  if (axes.batch) over[*axes.batch] = true;
  if (axes.position) over[*axes.position] = true;
  return reduced(x, over, Capture::Reduction::mean);
}

void average(const Offered& offered, const EditAxes& axes, const SelectedRegion& region) {
  float* const x = offered.value.f32();
  const Tensor mean = broadcast_to(mean_of(offered.value, axes), offered.value.shape());
  for (RegionWalk at(region); at; at.advance()) x[at.element] = mean.f32()[at.element];
}

// x += deviation · n.
void add_noise(const Edit& edit, const Offered& offered, const EditAxes& axes,
               const SelectedRegion& region) {
  float* const x = offered.value.f32();
  const Operand deviation(edit.value, edit, offered, region);
  const EditNoise noise(edit, offered, axes, region);
  for (RegionWalk at(region); at; at.advance()) {
    x[at.element] += deviation.at(at.places) * noise.at(at);
  }
}

void clamp(const Edit& edit, const Offered& offered, const SelectedRegion& region) {
  float* const x = offered.value.f32();
  const Operand low(edit.min, edit, offered, region), high(edit.max, edit, offered, region);
  for (RegionWalk at(region); at; at.advance()) {
    float& number = x[at.element];
    if (low) number = std::max(number, low.at(at.places));  // NaN remains
    if (high) number = std::min(number, high.at(at.places));
  }
}

// x -= Σ b (b · x) over the basis, for every vector of (selected) features.
void project_out(const Edit& edit, const Offered& offered, const EditAxes& axes,
                 const SelectedRegion& region) {
  const std::size_t rank = region.shape.rank();
  if (!axes.feature) {
    fail(kInvalid, described(edit, offered.name),
         ": it has no axis of features (its axes: ", offered.legend, ")");
  }
  const std::size_t width = region.shape[rank - 1];
  if (edit.value.dim(edit.value.shape().rank() - 1) != width) {
    fail(ErrorCode::shape_mismatch, described(edit, offered.name), ": directions of shape ",
         edit.value.shape().text(), " do not fit vectors of ", width, " features");
  }
  const std::vector<Vector> basis = basis_of(edit.value, width);
  float* const x = offered.value.f32();
  std::vector<std::size_t> elements;
  for (RegionWalk walk(region); walk; walk.advance()) {
    elements.push_back(walk.element);
    if (elements.size() < width) continue;
    Vector vector;
    for (const std::size_t at : elements) vector.push_back(x[at]);
    subtract_projections(basis, vector);
    for (std::size_t i = 0; i < width; ++i) x[elements[i]] = static_cast<float>(vector[i]);
    elements.clear();
  }
}

void combine(const Edit& edit, const Offered& offered, const SelectedRegion& region) {
  float* const x = offered.value.f32();
  const Operand value(edit.value, edit, offered, region);
  for (RegionWalk at(region); at; at.advance()) {
    const float given = value ? value.at(at.places) : 0.0f;
    switch (edit.op) {
      case Edit::Op::scale: x[at.element] *= given; break;
      case Edit::Op::add: x[at.element] += given; break;
      default: x[at.element] = given;
    }
  }
}

// What an op may not be given, and values without meaning.
void check_values(const Edit& edit) {
  const auto refuse = [&](const auto&... why) {
    fail(kInvalid, described(edit, edit.hook), why...);
  };
  const bool clamps = edit.op == Edit::Op::clamp, draws = edit.op == Edit::Op::noise;
  const bool limited = !edit.min.empty() || !edit.max.empty();
  if (clamps != limited) refuse(clamps ? " needs a min or a max" : " takes no min and no max");
  for (const Tensor* limit : {&edit.min, &edit.max}) {
    const float* const numbers = limit->empty() ? nullptr : limit->f32();
    const float* const end = numbers + (limit->empty() ? 0 : limit->elements());
    if (std::any_of(numbers, end, [](float number) { return std::isnan(number); })) {
      refuse(": a limit is NaN");
    }
  }
  if (edit.seed && !draws) refuse(" takes no seed");
  const float* const given = edit.value.empty() ? nullptr : edit.value.f32();
  const std::size_t count = given == nullptr ? 0 : edit.value.elements();
  if (draws && !std::all_of(given, given + count, [](float deviation) { return deviation >= 0; })) {
    refuse(": a standard deviation is at least 0");
  }
  if (edit.op != Edit::Op::project_out) return;
  const std::size_t rank = edit.value.shape().rank();
  if (rank != 1 && rank != 2) refuse(": directions are [feature] or [direction, feature]");
  const std::size_t width = edit.value.dim(rank - 1);
  for (std::size_t first = 0; first < count; first += width) {
    const Vector row(given + first, given + first + width);
    const double square = dot(row, row);
    if (!(square > 0.0 && std::isfinite(square))) refuse(": a direction is 0 or not finite");
  }
}

}  // namespace

std::string described(const Edit& edit, std::string_view hook) {
  return concat("edit: ", kOps[static_cast<std::size_t>(edit.op)], " at ", hook);
}

Edit::Op op_named(std::string_view name) {
  const auto* found = std::find(std::begin(kOps), std::end(kOps), name);
  if (found != std::end(kOps)) return static_cast<Edit::Op>(found - std::begin(kOps));
  std::string known;
  for (const std::string_view op : kOps) (known += known.empty() ? "" : ", ") += op;
  fail(kInvalid, "edit: there is no op \"", name, "\" (", known, ")");
}

void check(const Edit& edit) {
  using Op = Edit::Op;
  const auto op = static_cast<std::size_t>(edit.op);
  if (op >= std::size(kOps)) fail(kInvalid, "edit: there is no op ", op, " at ", edit.hook);
  const bool wants_none = edit.op == Op::zero || edit.op == Op::clamp;
  const bool needs_one = !wants_none && edit.op != Op::mean;
  if (needs_one && edit.value.empty()) fail(kInvalid, described(edit, edit.hook), " needs a value");
  if (wants_none && !edit.value.empty()) {
    fail(kInvalid, described(edit, edit.hook), " takes no value");
  }
  for (const Tensor* given : {&edit.value, &edit.min, &edit.max}) {
    if (given->empty() || given->dtype() == DType::f32) continue;
    fail(ErrorCode::dtype_mismatch, described(edit, edit.hook), ": the value must be float32");
  }
  check_values(edit);
}

void apply(const Edit& edit, const Offered& offered, const Steps& steps) {
  const EditAxes axes(offered.legend);
  const SelectedRegion region = region_of(edit, offered, axes, steps);
  if (region.shape.elements() == 0) return;
  using Op = Edit::Op;
  if (edit.op == Op::mean && edit.value.empty()) return average(offered, axes, region);
  if (edit.op == Op::noise) return add_noise(edit, offered, axes, region);
  if (edit.op == Op::project_out) return project_out(edit, offered, axes, region);
  if (edit.op == Op::clamp) return clamp(edit, offered, region);
  combine(edit, offered, region);
}

}  // namespace clearformer
