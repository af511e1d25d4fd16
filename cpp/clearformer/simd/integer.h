// Dot products of small integers, for the quantised matrix products.
//   weights   signed bytes (q8), or 0 … 15 (q4); four inputs of one output are adjacent
//   inputs    the same four, broadcast to all outputs
// Integer sums are exact, so all targets agree. Included by kernel files only.
#pragma once

#include <cstdint>
#include <cstring>

#include "clearformer/simd/vec.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace clearformer::simd::CLEARFORMER_TARGET {

using IntVec = xsimd::batch<std::int32_t, Arch>;
using ByteVec = xsimd::batch<std::uint8_t, Arch>;

// Narrows 32 integers where no intrinsic does so; the compiler vectorises it.
template <class Short>
inline void store_one_by_one(Short* to, const IntVec (&numbers)[32 / kLanes]) {
  std::int32_t wide[32];
  for (std::size_t v = 0; v < 32 / kLanes; ++v) numbers[v].store_unaligned(wide + v * kLanes);
  for (std::size_t i = 0; i < 32; ++i) to[i] = static_cast<Short>(wide[i]);
}

// With instructions that sum products of bytes in fours, a lane of the sum is one output. One factor must be
// unsigned and, in relaxed SIMD, below 128: 12-bit inputs are split into two halves. Elsewhere bytes are widened to
// 16 bits and summed in pairs, and a lane is half an output.
#if defined(__wasm_relaxed_simd__) || defined(__AVX512BW__)
#define CLEARFORMER_DOT_OF_BYTES 1
#else
#define CLEARFORMER_DOT_OF_BYTES 0
#endif

#if CLEARFORMER_DOT_OF_BYTES

using Quantum = std::int8_t;      // an input, or half of one
using WideWeight = std::uint8_t;  // a weight as dot() takes it
inline constexpr std::size_t kDotsPerVector = 1;
inline constexpr std::size_t kHalves = 2;  // of a 12-bit input
inline constexpr std::size_t kDotRows = kTileRows / 2;
inline constexpr std::int32_t kInputOffset = 2048;  // makes 12-bit inputs unsigned

/// The weights of four inputs and kLanes outputs.
inline ByteVec load_weights(const WideWeight* from) { return ByteVec::load_unaligned(from); }

/// Four inputs, broadcast.
inline ByteVec repeat_four(const Quantum* from) {
  std::int32_t four;
  std::memcpy(&four, from, sizeof four);
  return xsimd::bitwise_cast<std::uint8_t>(IntVec(four));
}

/// sums + Σ low · any over groups of four bytes; `low` are below 128, `any` signed.
inline IntVec dot(IntVec sums, ByteVec low, ByteVec any) {
#if defined(__wasm__)
  return IntVec(wasm_i32x4_relaxed_dot_i8x16_i7x16_add(any, low, sums));
#else
  return IntVec(_mm512_dpbusd_epi32(sums, low, any));
#endif
}

/// The sums of kLanes outputs.
inline IntVec outputs_of(const IntVec* sums) { return sums[0]; }

/// The low and the high nibbles of a register's bytes, as two registers of weights.
inline void load_nibbles(const std::uint8_t* from, ByteVec (&weights)[2]) {
  const ByteVec bytes = ByteVec::load_unaligned(from);
  const ByteVec low(std::uint8_t{15});
  weights[0] = bytes & low;
  const auto words = xsimd::bitwise_cast<std::uint16_t>(bytes) >> 4;
  weights[1] = xsimd::bitwise_cast<std::uint8_t>(words) & low;
}

/// 32 integers below 128 in magnitude, as inputs.
inline void store_quanta(Quantum* to, const IntVec (&numbers)[32 / kLanes]) {
#if defined(__wasm__)
  for (std::size_t half = 0; half < 2; ++half) {
    const IntVec* from = numbers + 4 * half;
    const v128_t low = wasm_i16x8_narrow_i32x4(from[0], from[1]);
    const v128_t high = wasm_i16x8_narrow_i32x4(from[2], from[3]);
    wasm_v128_store(to + 16 * half, wasm_i8x16_narrow_i16x8(low, high));
  }
#else
  store_one_by_one(to, numbers);
#endif
}

/// 32 integers below 4096: the upper six bits of four of them, then their lower six.
inline void store_long_quanta(Quantum* to, const IntVec (&numbers)[32 / kLanes]) {
  IntVec upper[32 / kLanes], lower[32 / kLanes];
  for (std::size_t v = 0; v < 32 / kLanes; ++v) {
    upper[v] = numbers[v] >> 6;
    lower[v] = numbers[v] & IntVec(63);
  }
  Quantum up[32], low[32];
  store_quanta(up, upper);
  store_quanta(low, lower);
#if defined(__wasm__)
  for (std::size_t i = 0; i < 32; i += 16) {
    const v128_t fours = wasm_v128_load(up + i), beside = wasm_v128_load(low + i);
    wasm_v128_store(to + 2 * i, wasm_i32x4_shuffle(fours, beside, 0, 4, 1, 5));
    wasm_v128_store(to + 2 * i + 16, wasm_i32x4_shuffle(fours, beside, 2, 6, 3, 7));
  }
#else
  for (std::size_t four = 0; four < 8; ++four) {
    std::memcpy(to + 8 * four, up + 4 * four, 4);
    std::memcpy(to + 8 * four + 4, low + 4 * four, 4);
  }
#endif
}

#else

using Quantum = std::int16_t;
using WideWeight = std::int16_t;
using ShortVec = xsimd::batch<std::int16_t, Arch>;
inline constexpr std::size_t kDotsPerVector = 2;
inline constexpr std::size_t kHalves = 1;
inline constexpr std::size_t kDotRows = 2;
inline constexpr std::int32_t kInputOffset = 0;

/// The weights of four inputs and kLanes / 2 outputs.
inline ShortVec load_weights(const WideWeight* from) { return ShortVec::load_unaligned(from); }

/// The same from bytes.
inline ShortVec load_weights(const std::uint8_t* from) {
#if defined(__wasm__)
  return ShortVec(wasm_i16x8_load8x8(from));
#elif defined(__aarch64__)
  return ShortVec(vmovl_s8(vld1_s8(reinterpret_cast<const std::int8_t*>(from))));
#elif defined(__AVX2__)
  const auto* bytes = reinterpret_cast<const __m128i*>(from);
  return ShortVec(_mm256_cvtepi8_epi16(_mm_loadu_si128(bytes)));
#else
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return ShortVec(_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8));
#endif
}

/// Four inputs, broadcast.
inline ShortVec repeat_four(const Quantum* from) {
#if defined(__wasm__)
  return ShortVec(wasm_v128_load64_splat(from));
#elif defined(__aarch64__)
  return ShortVec(vcombine_s16(vld1_s16(from), vld1_s16(from)));
#elif defined(__AVX2__)
  const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return ShortVec(_mm256_broadcastq_epi64(four));
#else
  const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return ShortVec(_mm_unpacklo_epi64(four, four));
#endif
}

/// sums + weights · inputs, summed in pairs.
inline IntVec dot(IntVec sums, ShortVec weights, ShortVec inputs) {
#if defined(__wasm__)
  return sums + IntVec(wasm_i32x4_dot_i16x8(weights, inputs));
#elif defined(__aarch64__)
  const int16x8_t w = weights, x = inputs;
  const int32x4_t low = vmull_s16(vget_low_s16(w), vget_low_s16(x));
  const int32x4_t high = vmull_s16(vget_high_s16(w), vget_high_s16(x));
  return sums + IntVec(vpaddq_s32(low, high));
#elif defined(__AVX2__)
  return sums + IntVec(_mm256_madd_epi16(weights, inputs));
#else
  return sums + IntVec(_mm_madd_epi16(weights, inputs));
#endif
}

/// The sums of kLanes outputs: adjacent lanes added.
inline IntVec outputs_of(const IntVec* sums) {
#if defined(__wasm__)
  const v128_t low = sums[0], high = sums[1];
  return IntVec(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6)) +
         IntVec(wasm_i32x4_shuffle(low, high, 1, 3, 5, 7));
#elif defined(__aarch64__)
  return IntVec(vpaddq_s32(sums[0], sums[1]));
#elif defined(__AVX2__)
  const __m256i by_halves = _mm256_hadd_epi32(sums[0], sums[1]);
  return IntVec(_mm256_permute4x64_epi64(by_halves, _MM_SHUFFLE(3, 1, 2, 0)));
#else
  const __m128 low = _mm_castsi128_ps(sums[0]), high = _mm_castsi128_ps(sums[1]);
  return IntVec(_mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)))) +
         IntVec(_mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1))));
#endif
}

inline void load_nibbles(const std::uint8_t* from, ShortVec (&weights)[4]) {
#if defined(__wasm__)
  const v128_t bytes = wasm_v128_load(from);
  const v128_t low = wasm_v128_and(bytes, wasm_i8x16_splat(15));
  const v128_t high = wasm_u8x16_shr(bytes, 4);
  weights[0] = ShortVec(wasm_u16x8_extend_low_u8x16(low));
  weights[1] = ShortVec(wasm_u16x8_extend_high_u8x16(low));
  weights[2] = ShortVec(wasm_u16x8_extend_low_u8x16(high));
  weights[3] = ShortVec(wasm_u16x8_extend_high_u8x16(high));
#else
  constexpr std::size_t kBytes = 4 * kLanes;
  std::uint8_t low[kBytes], high[kBytes];
  for (std::size_t i = 0; i < kBytes; ++i) {
    low[i] = from[i] & 15;
    high[i] = from[i] >> 4;
  }
  for (std::size_t half = 0; half < 2; ++half) {
    weights[half] = load_weights(low + kBytes / 2 * half);
    weights[2 + half] = load_weights(high + kBytes / 2 * half);
  }
#endif
}

inline void store_quanta(Quantum* to, const IntVec (&numbers)[32 / kLanes]) {
#if defined(__wasm__)
  for (std::size_t v = 0; v < 32 / kLanes; v += 2) {
    wasm_v128_store(to + v * kLanes, wasm_i16x8_narrow_i32x4(numbers[v], numbers[v + 1]));
  }
#else
  store_one_by_one(to, numbers);
#endif
}

/// 32 integers below 2048 in magnitude.
inline void store_long_quanta(Quantum* to, const IntVec (&numbers)[32 / kLanes]) {
  store_quanta(to, numbers);
}

#endif

/// Marks the end of the loop in which a sum stays in one register. Without it GCC copies every sum in every
/// iteration, because the code after the loop reads it as another type.
inline void settle([[maybe_unused]] IntVec& sums) {
#if defined(__x86_64__) && defined(__GNUC__)
  IntVec::register_type whole = sums;
#if defined(__AVX512F__)
  asm("" : "+v"(whole));
#else
  asm("" : "+x"(whole));
#endif
  sums = IntVec(whole);
#endif
}

inline Vec to_float(IntVec x) { return xsimd::batch_cast<float>(x); }

/// kLanes bfloat16 numbers.
inline Vec load_bf16(const std::uint16_t* from) {
#if defined(__wasm__)
  return xsimd::bitwise_cast<float>(IntVec(wasm_u32x4_load16x4(from)) << 16);
#else
  std::int32_t wide[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) wide[lane] = from[lane] << 16;
  return xsimd::bitwise_cast<float>(IntVec::load_unaligned(wide));
#endif
}

/// 2 · kLanes finite IEEE binary16 numbers; the first register gets those at even positions. Exponent and mantissa
/// are shifted into place and a multiplication adjusts the bias, which also normalises subnormals.
inline void load_halves(const std::uint16_t* from, Vec (&numbers)[2]) {
  const IntVec pairs = IntVec::load_unaligned(reinterpret_cast<const std::int32_t*>(from));
  const IntVec in_place(static_cast<std::int32_t>(0x8fffe000u));
  const Vec bias(0x1p112f);
  numbers[0] = xsimd::bitwise_cast<float>(((pairs << 16) >> 3) & in_place) * bias;
  numbers[1] = xsimd::bitwise_cast<float>((pairs >> 3) & in_place) * bias;
}

}  // namespace clearformer::simd::CLEARFORMER_TARGET
