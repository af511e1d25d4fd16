// Vec: a register of floats of the target, and the few operations on it that kernels use.
// Included by kernel files only; everything is in a namespace of the target, so that the linker never merges code
// of two targets.
#pragma once

#include "clearformer/simd/target.h"

#ifndef CLEARFORMER_TARGET
#error "vec.h is for kernel files, which the build compiles once per target"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <xsimd/xsimd.hpp>

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace clearformer::simd::CLEARFORMER_TARGET {

#if defined(__wasm__)
using Arch = xsimd::wasm;
#elif defined(__aarch64__)
using Arch = xsimd::neon64;
#elif defined(__AVX512BW__)
using Arch = xsimd::avx512bw;
#elif defined(__AVX2__)
using Arch = xsimd::fma3<xsimd::avx2>;
#else
using Arch = xsimd::sse2;
#endif

using Vec = xsimd::batch<float, Arch>;
using DoubleVec = xsimd::batch<double, Arch>;
inline constexpr std::size_t kLanes = Vec::size;

/// Register tile of the matmul: rows of A by vectors of B. Tuned per target, see tests/bench:
/// 15 or 16 registers hold 8 to 12 accumulators, the vectors of B and one broadcast element of A.
#if defined(__AVX512BW__)
inline constexpr std::size_t kTileRows = 12, kTileVectors = 2;
#elif defined(__AVX2__) || defined(__wasm_relaxed_simd__)
inline constexpr std::size_t kTileRows = 6, kTileVectors = 2;
#elif defined(__aarch64__)
inline constexpr std::size_t kTileRows = 8, kTileVectors = 2;
#else
inline constexpr std::size_t kTileRows = 4, kTileVectors = 2;
#endif

/// Marks innermost loops, which are not inlined: engines allocate registers per function.
#define CLEARFORMER_LOOP [[gnu::noinline]]

/// Unrolls the short loop that follows before registers are assigned: gcc otherwise leaves an array of sums in memory
/// around the loops that use it.
#if defined(__clang__)
#define CLEARFORMER_UNROLL
#else
#define CLEARFORMER_UNROLL _Pragma("GCC unroll 16")
#endif

/// Floats of a cache line.
inline constexpr std::size_t kLine = 16;

/// Fetches the cache line of `to` for writing: a store to memory that is not cached stalls. WebAssembly has no such
/// instruction.
inline void prefetch_for_writing([[maybe_unused]] const float* to) {
#if !defined(__wasm__)
  __builtin_prefetch(to, 1);
#endif
}

/// Fetches memory that is read next while other work is done: a part of it with each of `parts` steps. WebAssembly has no
/// instruction for that, but a load whose value is not used: it is seldom waited for, since the processor itself
/// fetches what follows a few lines that were read in turn.
class Ahead {
 public:
  /// Both numbers may be 0.
  Ahead(const void* from, std::size_t bytes, std::size_t parts)
      : next_(static_cast<const char*>(from)),
        end_(next_ + bytes),
        part_(parts == 0 ? 0 : (bytes + parts - 1) / parts) {}
  void fetch() {
    const char* end = std::min(next_ + part_, end_);
    for (; next_ < end; next_ += kLineBytes) {
#if defined(__wasm__)
      *static_cast<const volatile char*>(next_);
#else
      __builtin_prefetch(next_, 0, 2);
#endif
    }
  }

 private:
  static constexpr std::size_t kLineBytes = kLine * sizeof(float);
  const char* next_;
  const char* end_;
  std::size_t part_;
};

inline Vec load(const float* from) { return Vec::load_unaligned(from); }
inline void store(float* to, Vec value) { value.store_unaligned(to); }

/// Loads the first `count` (< kLanes) floats and reads nothing beyond them; the other lanes hold `fill`.
/// Not inlined, like store_partial: every loop has a tail, and it would be as long as the loop.
[[gnu::noinline]] inline Vec load_partial(const float* from, std::size_t count, float fill = 0.0f) {
  float lanes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = lane < count ? from[lane] : fill;
  return Vec::load_unaligned(lanes);
}

/// Stores the first `count` (< kLanes) lanes and writes nothing beyond them.
[[gnu::noinline]] inline void store_partial(float* to, std::size_t count, Vec value) {
  float lanes[kLanes];
  value.store_unaligned(lanes);
  for (std::size_t lane = 0; lane < count; ++lane) to[lane] = lanes[lane];
}

/// A constant in all lanes, for a loop: loaded before it from where it is stored, which must be static. Otherwise compilers
/// of WebAssembly put constants into the loop, and engines build them there in every step, V8 by three instructions each.
template <class Number>
inline xsimd::batch<Number, Arch> constant(const Number& value) {
  const Number* from = &value;
#if defined(__wasm__)
  asm("" : "+r"(from));  // hides from the compiler what is stored there
#endif
  return xsimd::batch<Number, Arch>(*from);
}

/// a * b + c: fused where the target has it, rounded twice on SSE2, plain simd128 and neon (whose fused instruction
/// only neon_fma uses).
inline Vec multiply_add(Vec a, Vec b, Vec c) {
#if defined(__wasm_relaxed_simd__)
  return Vec(wasm_f32x4_relaxed_madd(a, b, c));
#elif defined(CLEARFORMER_TWO_ROUNDINGS)
  return a * b + c;
#else
  return xsimd::fma(a, b, c);
#endif
}

// xsimd's float division and square root on aarch64 are estimates (two Newton steps, NaN for the root of infinity).
inline Vec divide(Vec a, Vec b) {
#if defined(__aarch64__)
  return Vec(vdivq_f32(a, b));
#else
  return a / b;
#endif
}
inline Vec square_root(Vec x) {
#if defined(__aarch64__)
  return Vec(vsqrtq_f32(x));
#else
  return xsimd::sqrt(x);
#endif
}

template <std::size_t stride>
struct Partner {
  static constexpr std::uint32_t get(std::size_t lane, std::size_t) {
    return static_cast<std::uint32_t>(lane ^ stride);
  }
};
template <std::size_t stride>
struct SignOfPartner {
  static constexpr std::uint32_t get(std::size_t lane, std::size_t) {
    return (lane & stride) != 0 ? 0x80000000u : 0;
  }
};

/// The lanes exchanged in pairs `stride` apart; with 1: (x1, x0, x3, x2, …).
template <std::size_t stride>
inline Vec exchange_lanes(Vec x) {
  return xsimd::swizzle(x, xsimd::make_batch_constant<std::uint32_t, Partner<stride>, Arch>());
}

/// The Walsh-Hadamard transform of a register's lanes, without a scale: sums and differences of pairs 1, 2, 4, … apart.
template <std::size_t stride = 1>
inline Vec hadamard_lanes(Vec x) {
  if constexpr (stride == kLanes) {
    return x;
  } else {
    const auto signs =
        xsimd::make_batch_constant<std::uint32_t, SignOfPartner<stride>, Arch>().as_batch();
    return hadamard_lanes<2 * stride>(exchange_lanes<stride>(x) +
                                      (x ^ xsimd::bitwise_cast<float>(signs)));
  }
}

/// Transposes a square of registers: each stage interleaves the first half of the rows with the second half.
inline void transpose(Vec (&rows)[kLanes]) {
  Vec mixed[kLanes];
  for (std::size_t stage = 1; stage < kLanes; stage *= 2) {
    for (std::size_t i = 0; i < kLanes / 2; ++i) {
      mixed[2 * i] = xsimd::zip_lo(rows[i], rows[i + kLanes / 2]);
      mixed[2 * i + 1] = xsimd::zip_hi(rows[i], rows[i + kLanes / 2]);
    }
    for (std::size_t i = 0; i < kLanes; ++i) rows[i] = mixed[i];
  }
}

inline Vec max(Vec a, Vec b) { return xsimd::max(a, b); }
inline float sum(Vec x) {
#if defined( \
    __aarch64__)  // sums in the order of SSE2 and simd128; the instruction adds adjacent lanes first
  const float32x2_t halves = vadd_f32(vget_low_f32(x), vget_high_f32(x));
  return vget_lane_f32(halves, 0) + vget_lane_f32(halves, 1);
#else
  return xsimd::reduce_add(x);
#endif
}
inline double sum(DoubleVec x) { return xsimd::reduce_add(x); }
inline float max_lane(Vec x) { return xsimd::reduce_max(x); }

}  // namespace clearformer::simd::CLEARFORMER_TARGET
