// Peak rates of WebAssembly SIMD. The next value of an accumulator depends on the last, so that no iteration can be
// removed.
#include <wasm_simd128.h>

#include <utility>
#include <vector>

#include "peaks.h"
#include "register_loop.h"

namespace clearformer::bench {
namespace {

constexpr std::size_t kAccumulators = 12;
volatile float factor = 0.999f, term = 0.001f;  // unknown at compile time
volatile int whole = 3;

double sum_of(const v128_t (&state)[kAccumulators]) {
  v128_t sum = state[0];
  for (std::size_t i = 1; i < kAccumulators; ++i) sum = wasm_i32x4_add(sum, state[i]);
  return wasm_i32x4_extract_lane(sum, 0);
}

template <class Step>
double run(double count, double operations_a_step, v128_t start, Step step) {
  v128_t state[kAccumulators];
  for (std::size_t i = 0; i < kAccumulators; ++i) {
    state[i] = wasm_f32x4_add(start, wasm_f32x4_splat(static_cast<float>(i) * 0.01f));
  }
  const double step_of_all = kAccumulators * operations_a_step;
  const auto turns = static_cast<std::size_t>(count / step_of_all) + 1;
  run_in_registers(state, turns, step);
  keep(sum_of(state));
  return static_cast<double>(turns) * step_of_all;
}

double multiply_add(double count) {
  const v128_t a = wasm_f32x4_splat(factor), b = wasm_f32x4_splat(term);
  return run(count, 8, b, [=](v128_t x) { return wasm_f32x4_add(wasm_f32x4_mul(x, a), b); });
}

double dot_i16(double count) {
  const v128_t a = wasm_i16x8_splat(static_cast<short>(whole));
  return run(count, 16, a, [=](v128_t x) { return wasm_i32x4_add(x, wasm_i32x4_dot_i16x8(x, a)); });
}

#if defined(__wasm_relaxed_simd__)
double relaxed_multiply_add(double count) {
  const v128_t a = wasm_f32x4_splat(factor), b = wasm_f32x4_splat(term);
  return run(count, 8, b, [=](v128_t x) { return wasm_f32x4_relaxed_madd(x, a, b); });
}

double relaxed_dot_i8(double count) {
  const v128_t a = wasm_i8x16_splat(static_cast<signed char>(whole));
  const v128_t b = wasm_i8x16_splat(static_cast<signed char>(whole + 1));
  return run(count, 32, a,
             [=](v128_t x) { return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a, b, x); });
}
#endif

// Reads the four quarters at once: more than a single stream, whose rate the prefetcher limits.
double stream(double count) {
  static std::vector<float> memory;
  constexpr std::size_t kStreams = 4, kTurn = 8;
  const std::size_t part =
      static_cast<std::size_t>(count) / sizeof(float) / kStreams / kTurn * kTurn;
  if (memory.size() < kStreams * part) memory.resize(kStreams * part);
  v128_t sums[kStreams][2] = {};
  for (const float* from = memory.data(); from < memory.data() + part; from += kTurn) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      for (std::size_t j = 0; j < 2; ++j) {
        sums[s][j] = wasm_f32x4_add(sums[s][j], wasm_v128_load(from + s * part + 4 * j));
      }
    }
  }
  for (const auto& of_stream : sums) {
    for (const v128_t sum : of_stream) keep(wasm_f32x4_extract_lane(sum, 0));
  }
  return static_cast<double>(kStreams * part * sizeof(float));
}

constexpr Peak kPeaks[] = {
    {"peak_f32", multiply_add},
    {"peak_i16", dot_i16},
#if defined(__wasm_relaxed_simd__)
    {"peak_f32_relaxed", relaxed_multiply_add},
    {"peak_i8", relaxed_dot_i8},
#endif
    {"peak_stream", stream},
};

}  // namespace

Peaks peaks_of_selected_target() { return {kPeaks, std::size(kPeaks)}; }

}  // namespace clearformer::bench
