#include "support/reference_edits.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace clearformer::test {

namespace {

// The indices of an axis that an edit selects, and whether the axis is dropped from the region.
struct Pick {
  std::vector<std::int64_t> indices;
  bool dropped = false;
};

struct ReferenceEdit {
  std::string hook, op;
  std::optional<Pick> head, pos;
  const Tensor* tensor = nullptr;
  float number = 0.0f;
};

std::optional<Pick> pick_of(const Json* json) {
  if (json == nullptr) return std::nullopt;
  if (json->is_integer()) return Pick{{*json->integer()}, true};
  Pick pick;
  for (const Json& index : json->array()) pick.indices.push_back(*index.integer());
  return pick;
}

bool is_map(const std::string& hook) {
  return hook.find("hook_attn_scores") != std::string::npos ||
         hook.find("hook_pattern") != std::string::npos;
}

// The index in the region for `index` along an axis of `size`; nullopt if it is not selected.
std::optional<std::size_t> place(const std::optional<Pick>& pick, std::size_t index,
                                 std::size_t size) {
  if (!pick) return index;
  for (std::size_t i = 0; i < pick->indices.size(); ++i) {
    const std::int64_t at = pick->indices[i];
    if (at == static_cast<std::int64_t>(index) ||
        at + static_cast<std::int64_t>(size) == static_cast<std::int64_t>(index)) {
      return i;
    }
  }
  return std::nullopt;
}

// One element of a tensor broadcast to the region, at these indices in it.
float broadcast(const Tensor& tensor, const std::vector<std::size_t>& places) {
  const std::size_t rank = tensor.shape().rank();
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t at = places[places.size() - rank + axis], size = tensor.dim(axis);
    index = index * size + (size == 1 ? 0 : at);
  }
  return tensor.f32()[index];
}

// For each element, the mean over sequences and positions at its other coordinates.
std::vector<float> means(TensorView value, std::size_t positions) {
  const std::size_t count = value.elements(), length = value.dim(positions);
  std::size_t inner = 1;
  for (std::size_t axis = positions + 1; axis < value.shape().rank(); ++axis) {
    inner *= value.dim(axis);
  }
  const std::size_t middle = count / value.dim(0) / length / inner;
  std::vector<double> sums(middle * inner);
  const auto key = [&](std::size_t i) { return i / inner / length % middle * inner + i % inner; };
  for (std::size_t i = 0; i < count; ++i) sums[key(i)] += value.f32()[i];
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(static_cast<float>(sums[key(i)] / static_cast<double>(value.dim(0) * length)));
  }
  return result;
}

float edited(const ReferenceEdit& edit, float x, float given) {
  if (edit.op == "zero") return 0.0f;
  if (edit.op == "scale") return x * given;
  if (edit.op == "add") return x + given;
  if (edit.op == "replace" || edit.op == "mean") return given;
  throw std::runtime_error("no such edit: " + edit.op);
}

void apply(const ReferenceEdit& edit, MutableTensorView value) {
  const std::size_t rank = value.shape().rank();
  const bool map = is_map(edit.hook);
  const std::size_t head_axis = map ? 1 : 2, position_axis = map ? 2 : 1;
  std::vector<float> mean;
  if (edit.op == "mean") mean = means(value, position_axis);
  for (std::size_t i = 0; i < value.elements(); ++i) {
    std::vector<std::size_t> places;
    bool picked = true;
    std::size_t rest = i, below = value.elements();
    for (std::size_t axis = 0; axis < rank && picked; ++axis) {
      below /= value.dim(axis);
      const std::size_t index = rest / below;
      rest %= below;
      const std::optional<Pick> all;
      const std::optional<Pick>& pick = axis == position_axis            ? edit.pos
                                        : axis == head_axis && rank == 4 ? edit.head
                                                                         : all;
      const auto found = place(pick, index, value.dim(axis));
      picked = found.has_value();
      if (picked && !(pick && pick->dropped)) places.push_back(*found);
    }
    if (!picked) continue;
    const float given = !mean.empty()            ? mean[i]
                        : edit.tensor != nullptr ? broadcast(*edit.tensor, places)
                                                 : edit.number;
    value.f32()[i] = edited(edit, value.f32()[i], given);
  }
}

std::vector<ReferenceEdit> edits_of(const Case& reference) {
  std::vector<ReferenceEdit> edits;
  for (const Json& json : reference.option("edits").array()) {
    ReferenceEdit edit;
    edit.hook = json.find("hook")->string();
    edit.op = json.find("op")->string();
    edit.head = pick_of(json.find("head"));
    edit.pos = pick_of(json.find("pos"));
    if (const Json* given = json.find("value")) {
      if (given->is_string()) {
        edit.tensor = &reference.input(given->string());
      } else {
        edit.number = static_cast<float>(given->number());
      }
    }
    edits.push_back(std::move(edit));
  }
  return edits;
}

// Values of the fixture broadcast to the region, whether or not it keeps axes selected by a number.
Tensor value_of(const ReferenceEdit& edit) {
  if (edit.tensor != nullptr) return edit.tensor->clone();
  if (edit.op == "zero" || edit.op == "mean") return {};
  Tensor value({1});
  *value.f32() = edit.number;
  return value;
}

}  // namespace

void add_functions(Trace& trace, const Case& reference) {
  for (const ReferenceEdit& edit : edits_of(reference)) {
    trace.edit(edit.hook,
               [edit](std::string_view, MutableTensorView value) { apply(edit, value); });
  }
}

void add_edits(Trace& trace, const Case& reference) {
  for (const ReferenceEdit& given : edits_of(reference)) {
    Edit edit;
    edit.hook = given.hook;
    edit.op = op_named(given.op);
    if (given.head) edit.heads = given.head->indices;
    if (given.pos) edit.positions = given.pos->indices;
    edit.value = value_of(given);
    trace.edit(std::move(edit));
  }
}

}  // namespace clearformer::test
