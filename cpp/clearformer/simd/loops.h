// Loops over arrays whose length is not a multiple of the register width: tails are handled here, once.
#pragma once

#include "clearformer/simd/vec.h"

namespace clearformer::simd::CLEARFORMER_TARGET {

/// The lanes a step of for_each processes: all, or the first `count`.
struct AllLanes {};
struct FirstLanes {
  std::size_t count;
};

inline Vec load(const float* from, AllLanes, float = 0.0f) { return load(from); }
inline Vec load(const float* from, FirstLanes lanes, float fill = 0.0f) {
  return load_partial(from, lanes.count, fill);
}
inline void store(float* to, AllLanes, Vec value) { store(to, value); }
inline void store(float* to, FirstLanes lanes, Vec value) { store_partial(to, lanes.count, value); }

/// Calls step(i, lanes) for each register's worth of `count` floats; loads and stores take `lanes`.
template <class Step>
inline void for_each(std::size_t count, Step step) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) step(i, AllLanes{});
  if (i < count) step(i, FirstLanes{count - i});
}

/// out[i] = apply(in[i]) for i < count; `in` and `out` may be the same array.
template <class Apply>
inline void transform(const float* in, float* out, std::size_t count, Apply apply) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const std::size_t left = count - i;
    const Vec result = apply(left < kLanes ? load_partial(in + i, left) : load(in + i));
    if (left < kLanes) return store_partial(out + i, left, result);
    store(out + i, result);
  }
}

/// out[i] = apply(a[i], b[i]) for i < count; the arrays may be the same.
template <class Apply>
inline void transform(const float* a, const float* b, float* out, std::size_t count, Apply apply) {
  for_each(count, [=](std::size_t i, auto lanes) {
    store(out + i, lanes, apply(load(a + i, lanes), load(b + i, lanes)));
  });
}

/// Folds all vectors of an array into `state`; lanes past the end hold `fill`.
template <class State, class Fold>
inline State fold(const float* in, std::size_t count, float fill, State state, Fold apply) {
  for_each(count,
           [&](std::size_t i, auto lanes) { state = apply(state, load(in + i, lanes, fill)); });
  return state;
}

/// Two sums accumulated in double, where float32 would lose precision or overflow.
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
  void add_product(Vec x, Vec y) {
    const auto left = xsimd::widen(x), right = xsimd::widen(y);
    low += left[0] * right[0];
    high += left[1] * right[1];
  }
  double total() const { return sum(low + high); }
  /// The sums of each lane, rounded.
  Vec narrowed() const {
    constexpr std::size_t kHalf = DoubleVec::size;
    double wide[2 * kHalf];
    float lanes[2 * kHalf];
    low.store_unaligned(wide);
    high.store_unaligned(wide + kHalf);
    for (std::size_t lane = 0; lane < 2 * kHalf; ++lane) {
      lanes[lane] = static_cast<float>(wide[lane]);
    }
    return load(lanes);
  }
};

}  // namespace clearformer::simd::CLEARFORMER_TARGET
