// Loops over arrays whose length is no multiple of the register: the tails, written once.
#pragma once

#include "clearformer/simd/vec.h"

namespace clearformer::simd::CLEARFORMER_TARGET {

/// out[i] = apply(in[i]) for i < count; `in` and `out` may be the same array.
template <class Apply>
inline void transform(const float* in, float* out, std::size_t count, Apply apply) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, apply(load(in + i)));
  if (i < count) store_partial(out + i, count - i, apply(load_partial(in + i, count - i)));
}

/// out[i] = apply(a[i], b[i]) for i < count; the arrays may be the same.
template <class Apply>
inline void transform(const float* a, const float* b, float* out, std::size_t count, Apply apply) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(out + i, apply(load(a + i), load(b + i)));
  if (i < count) {
    const std::size_t rest = count - i;
    store_partial(out + i, rest, apply(load_partial(a + i, rest), load_partial(b + i, rest)));
  }
}

/// Folds all vectors of an array into `state`; lanes past the end hold `fill`.
template <class State, class Fold>
inline State fold(const float* in, std::size_t count, float fill, State state, Fold apply) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) state = apply(state, load(in + i));
  if (i < count) state = apply(state, load_partial(in + i, count - i, fill));
  return state;
}

/// Two running sums in double, for sums that float32 would round or overflow.
struct DoubleSum {
  DoubleVec low = DoubleVec(0.0);
  DoubleVec high = DoubleVec(0.0);

  void add(Vec x) {
    const auto halves = xsimd::widen(x);
    low += halves[0];
    high += halves[1];
  }
  void add_square(Vec x) {
    const auto halves = xsimd::widen(x);
    low += halves[0] * halves[0];
    high += halves[1] * halves[1];
  }
  double total() const { return sum(low + high); }
};

}  // namespace clearformer::simd::CLEARFORMER_TARGET
