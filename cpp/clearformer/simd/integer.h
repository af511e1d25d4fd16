// Dot products of small integers, for the quantised matrix products.
//   weights   signed bytes (q8), or 0 … 15 (q4); kStep inputs of one output are adjacent
//   inputs    the same kStep, which fill four bytes, broadcast to all outputs
// A lane of a sum is one output. Integer sums are exact, so all targets agree. Included by kernel files only.
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

// Products of bytes are summed in fours where one factor may be unsigned and below 128, as relaxed SIMD requires: then
// no target saturates. Elsewhere bytes are widened to 16 bits and summed in pairs. Processors without an instruction for
// sums of four have one for pairs (AVX2, and what engines compile relaxed SIMD's to): PairDot.
#if defined(__wasm_relaxed_simd__) || defined(__AVX2__)
#define CLEARFORMER_DOT_OF_BYTES 1
#else
#define CLEARFORMER_DOT_OF_BYTES 0
#endif
#if CLEARFORMER_DOT_OF_BYTES && !defined(__AVX512BW__)
#define CLEARFORMER_DOT_OF_PAIRS 1
#else
#define CLEARFORMER_DOT_OF_PAIRS 0
#endif

#if CLEARFORMER_DOT_OF_BYTES

/// Products of bytes, summed in fours.
struct ByteDot {
  using Quantum = std::int8_t;      // an input, or half of one
  using WideWeight = std::uint8_t;  // a weight as dot() takes it
  using WeightVec = ByteVec;
  static constexpr std::size_t kBits = 8;        // of what is summed to 32 bits
  static constexpr bool kUnsignedInputs = true;  // they are moved by an offset
  static constexpr std::size_t kStep = 4;        // inputs that one dot() sums
  /// Rows of the tile of a quantised product, and of one whose inputs have two halves.
#if defined(__AVX512BW__)
  static constexpr std::size_t kRows = 14, kFineRows = 7;
#elif defined(__AVX2__)
  static constexpr std::size_t kRows = 4, kFineRows = 2;
#else
  static constexpr std::size_t kRows = 6, kFineRows = 3;
#endif

  /// The weights of kStep inputs and kLanes outputs.
  static WeightVec load_weights(const WideWeight* from) { return ByteVec::load_unaligned(from); }

  /// sums + Σ low · any over groups of four bytes; `low` are below 128, `any` signed.
  static IntVec dot(IntVec sums, ByteVec low, ByteVec any) {
#if defined(__wasm__)
    return IntVec(wasm_i32x4_relaxed_dot_i8x16_i7x16_add(any, low, sums));
#elif defined(__AVX512BW__)
    // Not the intrinsic: GCC copied every sum in every iteration, because the code around the loop uses it as another
    // type.
    __m512i sum = sums;
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(__m512i(low)), "v"(__m512i(any)));
    return IntVec(sum);
#else
    const __m256i pairs = _mm256_maddubs_epi16(low, any);
    return sums + IntVec(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
  }

  /// The weights of kStep inputs from nibbles: the low ones of a register's bytes, then the high ones.
  void load_nibbles(const std::uint8_t* from, WeightVec (&weights)[2]) const {
    const ByteVec bytes = ByteVec::load_unaligned(from);
    weights[0] = bytes & low_;
    const auto words = xsimd::bitwise_cast<std::uint16_t>(bytes) >> 4;
    weights[1] = xsimd::bitwise_cast<std::uint8_t>(words) & low_;
  }

  /// Narrows 32 integers below 128 in magnitude.
  static void store_quanta(Quantum* to, const IntVec (&numbers)[32 / kLanes]) {
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

 private:
  static constexpr std::uint8_t kLow = 15;
  ByteVec low_ = constant(kLow);
};

#else

/// Products of 16-bit integers, summed in pairs.
struct WordDot {
  using Quantum = std::int16_t;
  using WideWeight = std::int16_t;
  using WeightVec = xsimd::batch<std::int16_t, Arch>;
  static constexpr std::size_t kBits = 16;
  static constexpr bool kUnsignedInputs = false;
  static constexpr std::size_t kStep = 2, kRows = 4, kFineRows = 4;

  /// The weights of kStep inputs and kLanes outputs.
  static WeightVec load_weights(const WideWeight* from) { return WeightVec::load_unaligned(from); }

  /// The same from bytes.
  static WeightVec load_weights(const std::uint8_t* from) {
#if defined(__wasm__)
    return WeightVec(wasm_i16x8_load8x8(from));
#elif defined(__aarch64__)
    return WeightVec(vmovl_s8(vld1_s8(reinterpret_cast<const std::int8_t*>(from))));
#else
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return WeightVec(_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8));
#endif
  }

  /// sums + Σ a · b over pairs.
  static IntVec dot(IntVec sums, WeightVec a, WeightVec b) {
#if defined(__wasm__)
    return sums + IntVec(wasm_i32x4_dot_i16x8(a, b));
#elif defined(__aarch64__)
    const int16x8_t x = a, y = b;
    const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y));
    const int32x4_t high = vmull_s16(vget_high_s16(x), vget_high_s16(y));
    return sums + IntVec(vpaddq_s32(low, high));
#else
    return sums + IntVec(_mm_madd_epi16(a, b));
#endif
  }

  /// The weights of kStep inputs from nibbles: the low ones of half a register's bytes, then the high ones.
  void load_nibbles(const std::uint8_t* from, WeightVec (&weights)[2]) const {
#if defined(__wasm__)
    const WeightVec bytes(wasm_u16x8_load8x8(from));
#elif defined(__aarch64__)
    const WeightVec bytes(vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from))));
#else
    const __m128i whole = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    const WeightVec bytes(_mm_unpacklo_epi8(whole, _mm_setzero_si128()));
#endif
    weights[0] = bytes & low_;
    weights[1] = bytes >> 4;
  }

  /// Narrows 32 integers of 16 bits.
  static void store_quanta(Quantum* to, const IntVec (&numbers)[32 / kLanes]) {
#if defined(__wasm__)
    for (std::size_t v = 0; v < 32 / kLanes; v += 2) {
      wasm_v128_store(to + v * kLanes, wasm_i16x8_narrow_i32x4(numbers[v], numbers[v + 1]));
    }
#else
    store_one_by_one(to, numbers);
#endif
  }

 private:
  static constexpr std::int16_t kLow = 15;
  WeightVec low_ = constant(kLow);
};

#endif

#if CLEARFORMER_DOT_OF_BYTES
/// The product that panels are packed for.
using PanelDot = ByteDot;
#else
using PanelDot = WordDot;
#endif

#if CLEARFORMER_DOT_OF_PAIRS

/// Products of bytes for one row or many where the processor sums them in pairs, to 16 bits.
struct PairDot : ByteDot {
  using Pairs = xsimd::batch<std::int16_t, Arch>;
  static constexpr std::size_t kBits = 16, kRows = 4, kFineRows = 2;

  /// Σ low · any over pairs of bytes; `low` are below 128, `any` signed.
  static Pairs pairs(ByteVec low, ByteVec any) {
#if defined(__wasm__)
    return Pairs(wasm_i16x8_relaxed_dot_i8x16_i7x16(any, low));
#else
    return Pairs(_mm256_maddubs_epi16(low, any));
#endif
  }

  /// Sums of two adjacent pairs, after a loop: without a register for a constant.
  static IntVec widened(Pairs pairs) {
#if defined(__wasm__)
    return IntVec(wasm_i32x4_extadd_pairwise_i16x8(pairs));
#else
    return IntVec(_mm256_madd_epi16(pairs, Pairs(std::int16_t{1})));
#endif
  }

  /// Adds pairs whose sum the caller knows to fit. Not the operator, for the reason in ByteDot::dot.
  static Pairs add(Pairs sums, Pairs pairs) {
#if defined(__AVX2__)
    __m256i sum = sums;
    asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(__m256i(pairs)));
    return Pairs(sum);
#else
    return sums + pairs;
#endif
  }

#if defined(__wasm__)
  /// As ByteDot's, which engines compile to more instructions.
  IntVec dot(IntVec sums, ByteVec low, ByteVec any) const {
    return sums + IntVec(wasm_i32x4_dot_i16x8(pairs(low, any), ones_));
  }

 private:
  static constexpr std::int16_t kOne = 1;
  Pairs ones_ = constant(kOne);
#endif
};

#endif

/// Whether PairDot is the faster product of one row or many here: where the processor has no instruction for sums of four,
/// engines compile relaxed SIMD's to a sum of pairs that saturates. Operands above 127, which products never have, show
/// that.
inline bool pairs_are_faster() {
#if defined(__wasm_relaxed_simd__)
  static const bool faster = [] {
    volatile std::uint8_t large = 255, signed_large = 127;  // not folded by the compiler
    const IntVec sums = ByteDot::dot(IntVec(0), ByteVec(large), ByteVec(signed_large));
    constexpr int kSaturated = 2 * 32767;
    return sums.get(0) == kSaturated;
  }();
  return faster;
#else
  return CLEARFORMER_DOT_OF_PAIRS;
#endif
}

/// kStep inputs, broadcast.
template <class Dot>
inline typename Dot::WeightVec repeat_step(const typename Dot::Quantum* from) {
  std::int32_t step;
  std::memcpy(&step, from, sizeof step);
  return xsimd::bitwise_cast<typename Dot::WideWeight>(IntVec(step));
}

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

/// The sum of all lanes modulo 2³².
inline std::uint32_t sum(IntVec x) {
  return xsimd::reduce_add(xsimd::bitwise_cast<std::uint32_t>(x));
}
inline Vec to_float(IntVec x) { return xsimd::batch_cast<float>(x); }

/// kLanes bfloat16 numbers.
inline Vec load_bf16(const std::uint16_t* from) {
#if defined(__wasm__)
  return xsimd::bitwise_cast<float>(IntVec(wasm_u32x4_load16x4(from)) << 16);
#elif defined(__AVX512BW__)
  const auto* words = reinterpret_cast<const __m256i*>(from);
  return xsimd::bitwise_cast<float>(IntVec(_mm512_cvtepu16_epi32(_mm256_loadu_si256(words))) << 16);
#elif defined(__AVX2__)
  const auto* words = reinterpret_cast<const __m128i*>(from);
  return xsimd::bitwise_cast<float>(IntVec(_mm256_cvtepu16_epi32(_mm_loadu_si128(words))) << 16);
#elif defined(__aarch64__)
  return xsimd::bitwise_cast<float>(IntVec(vreinterpretq_s32_u32(vshll_n_u16(vld1_u16(from), 16))));
#else
  const __m128i words = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return xsimd::bitwise_cast<float>(IntVec(_mm_unpacklo_epi16(_mm_setzero_si128(), words)));
#endif
}

/// 2 · kLanes signed bytes as floats.
inline void load_bytes(const std::int8_t* from, Vec (&numbers)[2]) {
#if defined(__wasm__)
  const v128_t shorts = wasm_i16x8_load8x8(from);
  numbers[0] = Vec(wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(shorts)));
  numbers[1] = Vec(wasm_f32x4_convert_i32x4(wasm_i32x4_extend_high_i16x8(shorts)));
#elif defined(__AVX512BW__)
  const auto* bytes = reinterpret_cast<const __m128i*>(from);
  numbers[0] = to_float(IntVec(_mm512_cvtepi8_epi32(_mm_loadu_si128(bytes))));
  numbers[1] = to_float(IntVec(_mm512_cvtepi8_epi32(_mm_loadu_si128(bytes + 1))));
#elif defined(__AVX2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  numbers[0] = to_float(IntVec(_mm256_cvtepi8_epi32(bytes)));
  numbers[1] = to_float(IntVec(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(bytes, bytes))));
#elif defined(__aarch64__)
  const int16x8_t shorts = vmovl_s8(vld1_s8(from));
  numbers[0] = to_float(IntVec(vmovl_s16(vget_low_s16(shorts))));
  numbers[1] = to_float(IntVec(vmovl_s16(vget_high_s16(shorts))));
#else
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  const __m128i shorts = _mm_unpacklo_epi8(bytes, bytes);
  numbers[0] = to_float(IntVec(_mm_srai_epi32(_mm_unpacklo_epi16(shorts, shorts), 24)));
  numbers[1] = to_float(IntVec(_mm_srai_epi32(_mm_unpackhi_epi16(shorts, shorts), 24)));
#endif
}

/// kLanes 16-bit integers.
inline IntVec load_shorts(const std::int16_t* from) {
#if defined(__wasm__)
  return IntVec(wasm_i32x4_load16x4(from));
#elif defined(__AVX512BW__)
  return IntVec(_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#elif defined(__AVX2__)
  return IntVec(_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(__aarch64__)
  return IntVec(vmovl_s16(vld1_s16(from)));
#else
  const __m128i words = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return IntVec(_mm_srai_epi32(_mm_unpacklo_epi16(words, words), 16));
#endif
}

/// Reads 2 · kLanes finite IEEE binary16 numbers; the first register gets those at even positions.
class Halves {
 public:
  /// load() multiplies the numbers by `factor`, a power of two.
  explicit Halves(float factor = 1.0f) : adjust_(kAdjust * factor) {}

  /// Times 2^-112: exponent and mantissa are shifted into place.
  void load_scaled(const std::uint16_t* from, Vec (&numbers)[2]) const {
    const IntVec pairs = IntVec::load_unaligned(reinterpret_cast<const std::int32_t*>(from));
#if defined(__wasm__)
    // The product of a pair's first half and 2^13, with its sign: one instruction instead of two.
    const IntVec first(wasm_i32x4_dot_i16x8(pairs, first_to_place_));
#else
    const IntVec first = (pairs << 16) >> 3;
#endif
    numbers[0] = xsimd::bitwise_cast<float>(first & in_place_);
    numbers[1] = xsimd::bitwise_cast<float>((pairs >> 3) & in_place_);
  }

  /// The numbers themselves: a multiplication adjusts the exponents' bias, which also normalises subnormals.
  void load(const std::uint16_t* from, Vec (&numbers)[2]) const {
    load_scaled(from, numbers);
    for (Vec& number : numbers) number = number * adjust_;
  }

 private:
  static constexpr auto kInPlace = static_cast<std::int32_t>(0x8fffe000u);
  static constexpr std::int32_t kFirstToPlace = 1 << 13;
  static constexpr float kAdjust = 0x1p112f;

  IntVec in_place_ = constant(kInPlace), first_to_place_ = constant(kFirstToPlace);
  Vec adjust_;
};

}  // namespace clearformer::simd::CLEARFORMER_TARGET
