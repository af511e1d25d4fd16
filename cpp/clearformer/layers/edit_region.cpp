#include "clearformer/layers/edit_region.h"

#include <algorithm>
#include <utility>

#include "clearformer/layers/edit.h"
#include "clearformer/tensor/pattern.h"

namespace clearformer {

namespace {

constexpr ErrorCode kMisplaced = ErrorCode::invalid_argument;

using Picked = std::vector<Selected>;

// The axis, which an option selects from; throws if the hook point has none.
std::size_t existing(std::optional<std::size_t> axis, const char* what, const Selection& selection,
                     const Offered& offered) {
  if (axis) return *axis;
  fail(kMisplaced, selection.what, ": it has no axis of ", what, " (its axes: ", offered.legend,
       ")");
}

// What `given` selects of `count` indices. Indices count from the first one, which is `first`, negative ones from the
// end; of those outside, which another step may have from `least` to before `end` are left out, others refused.
struct Range {
  const char* what;
  std::size_t count, first = 0;
  std::int64_t least = 0, end = 0;

  std::optional<std::size_t> find(std::int64_t given) const {
    const auto from = static_cast<std::int64_t>(given < 0 ? count : 0) -
                      static_cast<std::int64_t>(given < 0 ? 0 : first);
    const std::int64_t index = given + from;
    if (index < 0 || index >= static_cast<std::int64_t>(count)) return std::nullopt;
    return static_cast<std::size_t>(index);
  }
};

Picked select(const std::vector<std::int64_t>& given, const Range& range,
              const Selection& selection) {
  Picked picked;
  // By index: its place in the list, from 1 on.
  std::vector<std::size_t> seen(selection.once ? range.count : 0);
  for (std::size_t place = 0; place < given.size(); ++place) {
    if (const auto index = range.find(given[place])) {
      const std::size_t before = selection.once ? std::exchange(seen[*index], place + 1) : 0;
      if (before != 0) {
        fail(kMisplaced, selection.what, ": ", range.what, " ", given[place],
             " is selected twice, by indices ", before - 1, " and ", place, " of the list");
      }
      picked.push_back({*index, place});
    } else if (given[place] < range.least || given[place] >= range.end) {
      fail(kMisplaced, selection.what, ": ", range.what, " ", given[place], " is not among the ",
           range.end > 0 ? range.end - range.first : range.count,
           range.end > 0 ? " of this generation" : " of this pass",
           range.first > 0 ? concat(" behind ", range.first, " cached ones") : "");
    }
  }
  return picked;
}

// Every prompt's row with its copies: the beams or the sequences that a generation continues it with.
Picked with_copies(const Picked& rows, std::size_t copies) {
  Picked all;
  for (const Selected& row : rows) {
    for (std::size_t copy = 0; copy < copies; ++copy) {
      all.push_back({row.index * copies + copy, row.place});
    }
  }
  return all;
}

}  // namespace

EditAxes::EditAxes(std::string_view legend) {
  const std::vector<std::string_view> words = split(legend);
  for (std::size_t axis = 0; axis < words.size(); ++axis) {
    const std::string_view word = words[axis];
    if (word == "batch") {
      batch = axis;
    } else if (word == "head" || word == "key_value_head") {
      head = axis;
    } else if (word.ends_with("pos") || word == "frame") {
      (position ? key : position) = axis;
    } else if (axis + 1 == words.size()) {
      feature = axis;
    }
  }
}

SelectedRegion::SelectedRegion(const Shape& of) {
  for (std::size_t axis = 0; axis < of.rank(); ++axis) {
    for (std::size_t index = 0; index < of[axis]; ++index) picked[axis].push_back({index, index});
    shape.append(of[axis]);
    extents.append(of[axis]);
    strides.append(1);
  }
  for (std::size_t axis = of.rank(); axis-- > 1;) strides[axis - 1] = strides[axis] * of[axis];
}

void SelectedRegion::pick(std::size_t axis, Picked selected, std::size_t extent) {
  shape[axis] = selected.size();
  extents[axis] = extent;
  picked[axis] = std::move(selected);
}

SelectedRegion region_of(const Selection& selection, const Offered& offered, const EditAxes& axes,
                         const Steps& steps) {
  const Shape& shape = offered.value.shape();
  const std::size_t prompts = steps.prompts;
  SelectedRegion region(shape);
  const auto select_from = [&](std::optional<std::size_t> of, const char* axis_name,
                               const std::vector<std::int64_t>& given, Range range) {
    if (given.empty()) return;
    const std::size_t axis = existing(of, axis_name, selection, offered);
    range.count = shape[axis];
    region.pick(axis, select(given, range, selection), given.size());
  };
  const std::size_t rows = axes.batch ? shape[*axes.batch] : 0;
  const bool copied = prompts > 0 && rows > prompts && rows % prompts == 0;
  if (!selection.rows.empty() || copied) {
    const std::size_t axis = existing(axes.batch, "rows", selection, offered);
    const Range range{"row", copied ? prompts : rows};
    const Picked chosen = selection.rows.empty() ? SelectedRegion(Shape{range.count}).picked[0]
                                                 : select(selection.rows, range, selection);
    region.pick(axis, with_copies(chosen, rows / range.count), chosen.size());
  }
  select_from(axes.head, "heads", selection.heads, {"head", 0});
  Range positions{"position", 0, offered.past}, keys{"key position", 0};
  const bool crosses = offered.name.find(".cross_attn.") != std::string_view::npos;
  if (prompts > 0 && !offered.name.starts_with("encoder.")) {  // a source is read as a whole
    if (!crosses) keys.least = -(keys.end = steps.end);
    if (!crosses || axes.key || !offered.legend.starts_with("batch key_pos")) {
      positions.end = steps.end;
      if (offered.past != steps.first) {
        positions.least = -steps.end;  // the first step had more
      } else {
        positions.least = static_cast<std::int64_t>(offered.past);
      }
    }
  }
  select_from(axes.position, "positions", selection.positions, positions);
  select_from(axes.key, "keys beside one of positions", selection.key_positions, keys);
  select_from(axes.feature, "features", selection.features, {"feature", 0});
  return region;
}

SelectedRegion region_of(const Edit& edit, const Offered& offered, const EditAxes& axes,
                         const Steps& steps) {
  const Selection selection{edit.rows,
                            edit.heads,
                            edit.positions,
                            edit.key_positions,
                            edit.features,
                            described(edit, offered.name),
                            true};
  return region_of(selection, offered, axes, steps);
}

Operand::Operand(const Tensor& value, const Edit& edit, const Offered& offered,
                 const SelectedRegion& region)
    : data_(value.empty() ? nullptr : value.f32()), strides_(region.extents) {
  const Shape &given = value.shape(), &extents = region.extents;
  const std::size_t rank = extents.rank();
  bool fits = data_ == nullptr || given.rank() <= rank;
  std::size_t stride = 1;
  for (std::size_t behind = 1; behind <= rank; ++behind) {
    const std::size_t axis = rank - behind;
    const std::size_t size = behind <= given.rank() ? given[given.rank() - behind] : 1;
    strides_[axis] = size == 1 ? 0 : stride;
    fits = fits && (data_ == nullptr || size == 1 || size == extents[axis]);
    stride *= size;
  }
  if (fits) return;
  fail(ErrorCode::shape_mismatch, described(edit, offered.name), ": a value of shape ",
       given.text(), " does not fit what is edited, ", extents.text());
}

float Operand::at(const Shape& places) const {
  std::size_t element = 0;
  for (std::size_t axis = 0; axis < places.rank(); ++axis) {
    element += places[axis] * strides_[axis];
  }
  return data_[element];
}

RegionWalk::RegionWalk(const SelectedRegion& region)
    : places(region.shape), region_(region), at_(region.shape), left_(region.shape.elements()) {
  for (std::size_t axis = 0; axis < at_.rank(); ++axis) at_[axis] = 0;
  if (left_ > 0) read();
}

void RegionWalk::read() {
  element = 0;
  for (std::size_t axis = 0; axis < at_.rank(); ++axis) {
    const Selected& selected = region_.picked[axis][at_[axis]];
    element += selected.index * region_.strides[axis];
    places[axis] = selected.place;
  }
}

void RegionWalk::advance() {
  if (--left_ == 0) return;
  std::size_t axis = at_.rank() - 1;
  while (++at_[axis] == region_.shape[axis]) at_[axis--] = 0;
  read();
}

float EditNoise::at(const RegionWalk& walk) const {
  NoiseKey key = of_hook_;
  for (std::size_t axis = 0, rest = walk.element; axis < region_.shape.rank(); ++axis) {
    std::size_t coordinate = rest / region_.strides[axis];
    rest %= region_.strides[axis];
    if (axis == axes_.batch) coordinate = walk.places[axis];
    if (axis == axes_.position) coordinate += past_;
    key = key.with(coordinate);
  }
  return static_cast<float>(key.normal());
}

}  // namespace clearformer
