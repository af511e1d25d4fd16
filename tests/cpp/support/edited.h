// What an Edit makes of a tensor that counts from 1, and plain loops over its coordinates to compare with.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "clearformer/layers/trace.h"
#include "support/closeness.h"

namespace clearformer::test {

/// 1, 2, 3, … in row-major order.
inline Tensor counted(const Shape& shape) {
  Tensor tensor(shape);
  std::iota(tensor.f32(), tensor.f32() + tensor.elements(), 1.0f);
  return tensor;
}

inline Tensor numbers(const Shape& shape, const std::vector<float>& values) {
  Tensor tensor(shape);
  std::copy(values.begin(), values.end(), tensor.f32());
  return tensor;
}

/// The tensor after an edit at "hook", with `past` preceding positions; as a step of a generation from `prompts`, if
/// that is not 0.
inline Tensor edited_tensor(Tensor value, Edit edit, const char* legend, std::size_t past = 0,
                            std::size_t prompts = 0) {
  edit.hook = "hook";
  Trace trace;
  if (prompts > 0) trace.watch_steps({prompts});
  trace.edit(std::move(edit));
  TraceScope(&trace).after(past)("hook", value, legend);
  return value;
}

inline Tensor edited(Edit edit, const Shape& shape, const char* legend, std::size_t past = 0) {
  return edited_tensor(counted(shape), std::move(edit), legend, past);
}

/// Calls change(coordinates, number) for every element of counted(shape), and compares bit for bit.
template <class Change>
void expect_changed(const Tensor& found, Change change, Place place = Place::here()) {
  Tensor expected = counted(found.shape());
  const std::size_t rank = found.shape().rank();
  for (std::size_t i = 0; i < expected.elements(); ++i) {
    std::vector<std::size_t> at(rank);
    for (std::size_t axis = rank, rest = i; axis-- > 0; rest /= found.dim(axis)) {
      at[axis] = rest % found.dim(axis);
    }
    expected.f32()[i] = change(at, expected.f32()[i]);
  }
  expect_same_bits("edited", found, expected, place);
}

}  // namespace clearformer::test
