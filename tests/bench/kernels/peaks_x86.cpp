// Peak rates of x86-64; compiled once per instruction set, like the kernels.
#include <immintrin.h>

#include <utility>
#include <vector>

#include "peaks.h"
#include "register_loop.h"

namespace clearformer::bench::CLEARFORMER_TARGET {
namespace {

volatile float factor = 0.999f, term = 0.001f;  // unknown at compile time
volatile int whole = 3;

#if defined(__AVX512BW__)
using Floats = __m512;
using Integers = __m512i;
constexpr std::size_t kAccumulators = 24;
Floats splat(float x) { return _mm512_set1_ps(x); }
[[maybe_unused]] Integers splat(int x) { return _mm512_set1_epi32(x); }
Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
Floats load(const float* from) { return _mm512_loadu_ps(from); }
double first(Floats x) { return _mm512_cvtss_f32(x); }
[[maybe_unused]] double first(Integers x) { return _mm512_cvtsi512_si32(x); }
#elif defined(__AVX2__)
using Floats = __m256;
using Integers = __m256i;
constexpr std::size_t kAccumulators = 12;
Floats splat(float x) { return _mm256_set1_ps(x); }
[[maybe_unused]] Integers splat(int x) { return _mm256_set1_epi32(x); }
Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
Floats load(const float* from) { return _mm256_loadu_ps(from); }
double first(Floats x) { return _mm256_cvtss_f32(x); }
[[maybe_unused]] double first(Integers x) { return _mm256_cvtsi256_si32(x); }
#else
using Floats = __m128;
using Integers = __m128i;
constexpr std::size_t kAccumulators = 12;
Floats splat(float x) { return _mm_set1_ps(x); }
Floats fused(Floats a, Floats b, Floats c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
Floats add(Floats a, Floats b) { return _mm_add_ps(a, b); }
Floats load(const float* from) { return _mm_loadu_ps(from); }
double first(Floats x) { return _mm_cvtss_f32(x); }
#endif
constexpr std::size_t kLanes = sizeof(Floats) / sizeof(float);

double multiply_add(double count) {
  const Floats a = splat(factor), b = splat(term);
  Floats state[kAccumulators];
  for (std::size_t i = 0; i < kAccumulators; ++i) state[i] = splat(static_cast<float>(i));
  constexpr double kStep = 2.0 * kLanes * kAccumulators;
  const auto turns = static_cast<std::size_t>(count / kStep) + 1;
  run_in_registers(state, turns, [=](Floats x) { return fused(x, a, b); });
  for (const Floats x : state) keep(first(x));
  return static_cast<double>(turns) * kStep;
}

// Adds the sum of four byte products: vpdpbusd.
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define CLEARFORMER_BENCH_VNNI
double dot_i8(double count) {
  const Integers a = splat(whole * 0x01010101), b = splat((whole + 1) * 0x01010101);
  Integers state[kAccumulators];
  for (std::size_t i = 0; i < kAccumulators; ++i) state[i] = splat(static_cast<int>(i));
  constexpr double kStep = 8.0 * kLanes * kAccumulators;
  const auto turns = static_cast<std::size_t>(count / kStep) + 1;
  run_in_registers(state, turns, [=](Integers x) {
#if defined(__AVX512VNNI__)
    return _mm512_dpbusd_epi32(x, a, b);
#else
    return _mm256_dpbusd_avx_epi32(x, a, b);
#endif
  });
  for (const Integers x : state) keep(first(x));
  return static_cast<double>(turns) * kStep;
}
#endif

// Reads the four quarters at once: more than a single stream, whose rate the prefetcher limits.
double stream(double count) {
  static std::vector<float> memory;
  constexpr std::size_t kStreams = 4, kTurn = 2 * kLanes;
  const std::size_t part =
      static_cast<std::size_t>(count) / sizeof(float) / kStreams / kTurn * kTurn;
  if (memory.size() < kStreams * part) memory.resize(kStreams * part);
  Floats sums[kStreams][2];
  for (auto& of_stream : sums) {
    for (Floats& sum : of_stream) sum = splat(0.0f);
  }
  for (const float* from = memory.data(); from < memory.data() + part; from += kTurn) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      for (std::size_t j = 0; j < 2; ++j) {
        sums[s][j] = add(sums[s][j], load(from + s * part + j * kLanes));
      }
    }
  }
  for (const auto& of_stream : sums) {
    for (const Floats sum : of_stream) keep(first(sum));
  }
  return static_cast<double>(kStreams * part * sizeof(float));
}

constexpr Peak kPeaks[] = {
    {"peak_f32", multiply_add},
#if defined(CLEARFORMER_BENCH_VNNI)
    {"peak_i8", dot_i8},
#endif
    {"peak_stream", stream},
};

}  // namespace

Peaks peaks() { return {kPeaks, std::size(kPeaks)}; }

}  // namespace clearformer::bench::CLEARFORMER_TARGET
