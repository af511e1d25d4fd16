#include "clearformer/layers/capture.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "clearformer/layers/edit_region.h"

namespace clearformer {

namespace {

constexpr std::string_view kReductions[] = {"none", "mean", "max", "norm", "top_k"};
constexpr std::string_view kAxes[] = {"row", "head", "pos", "key_pos", "feature"};

using Reduction = Capture::Reduction;

std::string capture_at(std::string_view hook) { return concat("capture: at ", hook); }

// The axis of one of kAxes.
std::size_t axis_named(std::string_view name, const EditAxes& axes, const Offered& offered) {
  const std::optional<std::size_t> found[] = {axes.batch, axes.head, axes.position, axes.key,
                                              axes.feature};
  const auto* at = std::find(std::begin(kAxes), std::end(kAxes), name);
  if (at == std::end(kAxes)) {
    fail(ErrorCode::invalid_argument, capture_at(offered.name), ": there is no axis \"", name,
         "\" (row, head, pos, key_pos, feature)");
  }
  if (const auto axis = found[at - std::begin(kAxes)]) return *axis;
  fail(ErrorCode::invalid_argument, capture_at(offered.name), ": it has no axis of \"", name,
       "\" (its axes: ", offered.legend, ")");
}

// Whether a is placed before b: NaN is the largest, equal numbers keep their order.
bool is_larger(float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

// The k largest numbers along an axis in descending order, and their places on it.
void take_largest(Trace::Captured& entry, std::size_t axis, std::size_t k) {
  const Tensor x = std::move(entry.value);
  const std::size_t extent = x.dim(axis), kept = std::min(k, extent);
  Shape shape = x.shape();
  shape[axis] = kept;
  entry.value = Tensor(shape);
  entry.indices = Tensor(shape, DType::i32);
  std::size_t inner = 1;
  for (std::size_t behind = axis + 1; behind < shape.rank(); ++behind) inner *= shape[behind];
  std::vector<std::int32_t> order(extent);
  for (std::size_t column = 0; column < x.elements() / std::max<std::size_t>(extent, 1); ++column) {
    const std::size_t outer = column / inner, offset = column % inner;
    const float* from = x.f32() + outer * extent * inner + offset;
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(kept);
    std::partial_sort(order.begin(), middle, order.end(), [&](std::int32_t a, std::int32_t b) {
      const float x_a = from[static_cast<std::size_t>(a) * inner];
      const float x_b = from[static_cast<std::size_t>(b) * inner];
      return is_larger(x_a, x_b) || (!is_larger(x_b, x_a) && a < b);
    });
    for (std::size_t i = 0; i < kept; ++i) {
      const std::size_t to = (outer * kept + i) * inner + offset;
      entry.value.f32()[to] = from[static_cast<std::size_t>(order[i]) * inner];
      static_cast<std::int32_t*>(entry.indices.data())[to] = order[i];
    }
  }
}

}  // namespace

Capture::Reduction reduction_named(std::string_view name) {
  const auto* found = std::find(std::begin(kReductions), std::end(kReductions), name);
  if (found != std::end(kReductions)) return static_cast<Reduction>(found - kReductions);
  fail(ErrorCode::invalid_argument, "capture: there is no reduction \"", name,
       "\" (mean, max, norm, top_k)");
}

Tensor reduced(const TensorView& x, const AxisFlags& over, Capture::Reduction how) {
  Shape shape = x.shape();
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (over[axis]) shape[axis] = 1;
  }
  const double first = how == Reduction::max ? -std::numeric_limits<double>::infinity() : 0.0;
  std::vector<double> results(shape.elements(), first);
  const SelectedRegion all(x.shape());
  for (RegionWalk at(all); at; at.advance()) {
    std::size_t of = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      of = of * shape[axis] + (shape[axis] == 1 ? 0 : at.places[axis]);
    }
    const double number = x.f32()[at.element];
    double& result = results[of];
    if (how == Reduction::max) {
      if (!(number <= result) && !std::isnan(result)) result = number;
    } else {
      result += how == Reduction::norm ? number * number : number;
    }
  }
  Tensor all_reduced(shape);
  const double count = static_cast<double>(x.elements()) /
                       static_cast<double>(std::max<std::size_t>(results.size(), 1));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (how == Reduction::mean) results[i] /= count;
    if (how == Reduction::norm) results[i] = std::sqrt(results[i]);
    all_reduced.f32()[i] = static_cast<float>(results[i]);
  }
  return all_reduced;
}

Trace::Captured taken(const Capture& capture, const Offered& offered, const Steps& steps) {
  const EditAxes axes(offered.legend);
  const Selection selection{capture.rows,          capture.heads,    capture.positions,
                            capture.key_positions, capture.features, capture_at(offered.name)};
  const SelectedRegion region = region_of(selection, offered, axes, steps);
  Trace::Captured entry{std::string(offered.name), std::string(offered.legend), Tensor()};
  if (steps.prompts > 0 && region.shape.elements() == 0) return entry;
  entry.value = Tensor(region.shape);
  entry.selected = true;
  float* to = entry.value.f32();
  for (RegionWalk at(region); at; at.advance()) *to++ = offered.value.f32()[at.element];
  AxisFlags over = {};
  std::size_t last = 0;
  for (const std::string& name : capture.over) over[last = axis_named(name, axes, offered)] = true;
  if (capture.reduction == Reduction::none) return entry;
  if (capture.reduction != Reduction::top_k) {
    entry.value = reduced(entry.value, over, capture.reduction);
    return entry;
  }
  take_largest(entry, last, capture.k);
  const std::size_t first = last == axes.position ? offered.past : 0;
  auto* const indices = static_cast<std::int32_t*>(entry.indices.data());
  for (std::size_t i = 0; i < entry.indices.elements(); ++i) {
    const Selected& selected = region.picked[last][static_cast<std::size_t>(indices[i])];
    indices[i] = static_cast<std::int32_t>(selected.index + first);
  }
  return entry;
}

void check(const Capture& capture) {
  const bool reduces = capture.reduction != Reduction::none,
             ranks = capture.reduction == Reduction::top_k;
  const auto refuse = [&](const char* why) {
    fail(ErrorCode::invalid_argument, capture_at(capture.hook), ": ", why);
  };
  if (reduces != !capture.over.empty()) {
    refuse(reduces ? "a reduction needs the axes it is over" : "axes to be over, but no reduction");
  }
  if (ranks && capture.over.size() != 1) refuse("top_k is over one axis");
  if (ranks != (capture.k > 0)) refuse("top_k needs a whole number > 0");
}

}  // namespace clearformer
