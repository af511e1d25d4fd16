#include "clearformer/layers/edit.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>

namespace clearformer {

namespace {

constexpr std::string_view kOps[] = {"zero", "mean", "scale", "add", "replace"};
constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;

std::string described(const Edit& edit, std::string_view hook) {
  return concat("edit: ", kOps[static_cast<std::size_t>(edit.op)], " at ", hook);
}

// The batch axis, the axis of the positions that an edit can select (the queries' for scores), the head axis.
struct Axes {
  std::optional<std::size_t> batch, position, head;
};

Axes roles_of(std::string_view legend) {
  Axes axes;
  const std::vector<std::string_view> words = axes_of(legend);
  for (std::size_t axis = 0; axis < words.size(); ++axis) {
    const std::string_view word = words[axis];
    if (word == "batch") axes.batch = axis;
    if (word == "head" || word == "key_value_head") axes.head = axis;
    if (!axes.position && (word.ends_with("pos") || word == "frame")) axes.position = axis;
  }
  return axes;
}

using Indices = std::vector<std::size_t>;

// The indices selected by an edit, for each axis.
struct Region {
  std::array<Indices, Shape::kMaxRank> picked;
  Shape shape, strides;  // of the region; of the tensor

  explicit Region(const Shape& of) {
    for (std::size_t axis = 0; axis < of.rank(); ++axis) {
      picked[axis].resize(of[axis]);
      std::iota(picked[axis].begin(), picked[axis].end(), 0u);
      shape.append(of[axis]);
      strides.append(1);
    }
    for (std::size_t axis = of.rank(); axis-- > 1;) strides[axis - 1] = strides[axis] * of[axis];
  }

  void pick(std::size_t axis, Indices indices) {
    shape[axis] = indices.size();
    picked[axis] = std::move(indices);
  }
};

Indices picked_heads(const Edit& edit, const Offered& offered, std::size_t heads) {
  Indices indices;
  for (const std::int64_t given : edit.heads) {
    const auto count = static_cast<std::int64_t>(heads);
    const std::int64_t head = given < 0 ? given + count : given;
    if (head < 0 || head >= count) {
      fail(kInvalid, described(edit, offered.name), ": head ", given, " of ", heads);
    }
    indices.push_back(static_cast<std::size_t>(head));
  }
  return indices;
}

Indices picked_positions(const Edit& edit, const Offered& offered, std::size_t length,
                         Outside outside) {
  Indices indices;
  for (const std::int64_t given : edit.positions) {
    const auto first = static_cast<std::int64_t>(offered.past);
    const auto count = static_cast<std::int64_t>(length);
    const std::int64_t position = given < 0 ? given + count : given - first;
    if (position >= 0 && position < count) {
      indices.push_back(static_cast<std::size_t>(position));
    } else if (outside == Outside::refused) {
      fail(kInvalid, described(edit, offered.name), ": position ", given, " is not among the ",
           length, " of this pass",
           first > 0 ? concat(" behind ", offered.past, " cached ones") : "");
    }
  }
  return indices;
}

Region region_of(const Edit& edit, const Offered& offered, const Axes& axes, Outside outside) {
  const Shape& shape = offered.value.shape();
  Region region(shape);
  const auto axis_of = [&](std::optional<std::size_t> axis, const char* what) {
    if (axis) return *axis;
    fail(kInvalid, described(edit, offered.name), ": it has no axis of ", what,
         " (its axes: ", offered.legend, ")");
  };
  if (!edit.heads.empty()) {
    const std::size_t axis = axis_of(axes.head, "heads");
    region.pick(axis, picked_heads(edit, offered, shape[axis]));
  }
  if (!edit.positions.empty()) {
    const std::size_t axis = axis_of(axes.position, "positions");
    region.pick(axis, picked_positions(edit, offered, shape[axis], outside));
  }
  return region;
}

// Calls visit(offset in the tensor, index in the region) for the whole region, in row-major order.
template <class Visit>
void for_each(const Region& region, Visit visit) {
  const std::size_t rank = region.shape.rank();
  Shape at = region.shape;
  for (std::size_t axis = 0; axis < rank; ++axis) at[axis] = 0;
  for (std::size_t count = region.shape.elements(); count > 0; --count) {
    std::size_t element = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      element += region.picked[axis][at[axis]] * region.strides[axis];
    }
    visit(element, at);
    for (std::size_t axis = rank; axis-- > 0 && ++at[axis] == region.shape[axis];) at[axis] = 0;
  }
}

// The mean over batch and positions, with those axes kept as extents of 1.
Tensor mean_of(const MutableTensorView& x, const Axes& axes) {
  Shape shape = x.shape();
  if (axes.batch) shape[*axes.batch] = 1;
  if (axes.position) shape[*axes.position] = 1;
  std::vector<double> sums(shape.elements(), 0.0);
  for_each(Region(x.shape()), [&](std::size_t element, const Shape& at) {
    std::size_t of = 0;
    for (std::size_t axis = 0; axis < at.rank(); ++axis) {
      of = of * shape[axis] + (shape[axis] == 1 ? 0 : at[axis]);
    }
    sums[of] += x.f32()[element];
  });
  Tensor mean(shape);
  const double count = static_cast<double>(x.elements()) / static_cast<double>(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) mean.f32()[i] = static_cast<float>(sums[i] / count);
  return mean;
}

// The value broadcast to the region.
Tensor value_of(const Edit& edit, const Offered& offered, const Region& region) {
  try {
    return broadcast_to(edit.value, region.shape);
  } catch (const Error&) {
    fail(ErrorCode::shape_mismatch, described(edit, offered.name), ": a value of shape ",
         edit.value.shape().text(), " does not fit what is edited, ", region.shape.text());
  }
}

}  // namespace

Edit::Op op_named(std::string_view name) {
  const auto* found = std::find(std::begin(kOps), std::end(kOps), name);
  if (found != std::end(kOps)) return static_cast<Edit::Op>(found - std::begin(kOps));
  fail(kInvalid, "edit: there is no op \"", name, "\" (zero, mean, scale, add, replace)");
}

void check(const Edit& edit) {
  const bool wants_none = edit.op == Edit::Op::zero;
  const bool needs_one = !wants_none && edit.op != Edit::Op::mean;
  if (needs_one && edit.value.empty()) fail(kInvalid, described(edit, edit.hook), " needs a value");
  if (wants_none && !edit.value.empty()) {
    fail(kInvalid, described(edit, edit.hook), " takes no value");
  }
  if (!edit.value.empty() && edit.value.dtype() != DType::f32) {
    fail(ErrorCode::dtype_mismatch, described(edit, edit.hook), ": the value must be float32");
  }
}

void apply(const Edit& edit, const Offered& offered, Outside outside) {
  const Axes axes = roles_of(offered.legend);
  const Region region = region_of(edit, offered, axes, outside);
  if (region.shape.elements() == 0) return;
  float* const x = offered.value.f32();
  const bool averages = edit.op == Edit::Op::mean && edit.value.empty();
  Tensor value;
  if (averages) value = broadcast_to(mean_of(offered.value, axes), offered.value.shape());
  if (!edit.value.empty()) value = value_of(edit, offered, region);
  std::size_t next = 0;
  for_each(region, [&](std::size_t element, const Shape&) {
    const float given = value.empty() ? 0.0f : value.f32()[averages ? element : next++];
    switch (edit.op) {
      case Edit::Op::scale: x[element] *= given; break;
      case Edit::Op::add: x[element] += given; break;
      default: x[element] = given;
    }
  });
}

}  // namespace clearformer
