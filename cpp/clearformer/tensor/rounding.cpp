#include "clearformer/tensor/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "clearformer/tensor/dtype.h"

namespace clearformer {

namespace {

// Blocks whose largest magnitude is below this are stored as zeros: dividing by their scale would overflow.
constexpr float kSmallest = 1e-30f;

constexpr std::int32_t kMagnitude = 0x7fffffff;  // all bits but the sign

// Of non-negative floats the order is that of their bits, with infinity and NaN last.
std::int32_t largest_bits(const float* values, std::size_t count) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]) & kMagnitude);
  }
  return largest;
}

// The first of the elements of largest magnitude, with its sign.
float extreme_of(const float (&block)[kBlock]) {
  const std::int32_t largest = largest_bits(block, kBlock);
  return *std::find_if(block, block + kBlock, [largest](float value) {
    return (std::bit_cast<std::int32_t>(value) & kMagnitude) == largest;
  });
}

struct Range {
  float low, high;
  // Round half to even by adding and subtracting 1.5 · 2²³, above which a float has no fraction bits; |value| is far
  // smaller. Without SSE4.1 std::nearbyint is a function call and several times slower.
  float round(float value) const {
    constexpr float kNoFraction = 12582912.0f;  // 1.5 · 2²³
    return std::clamp((value + kNoFraction) - kNoFraction, low, high);
  }
};

// With t = w·end/extreme rounded to u, the least-squares factor is a = Σtu / Σu², and the squared error is
// Σt² - (Σtu)² / Σu².
struct Fit {
  float dot = 0.0f, squares = 0.0f;  // Σtu, Σu²; never 0, since u = ±end occurs

  Fit(const float (&block)[kBlock], float inverse, Range range) {
    float dots[kBlock], of_squares[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float t = block[i] * inverse, u = range.round(t);
      dots[i] = t * u;
      of_squares[i] = u * u;
    }
    for (std::size_t i = 0; i < kBlock; ++i) {  // in this order on every machine
      dot += dots[i];
      squares += of_squares[i];
    }
  }
};

// The scale of least squared error among those that map `extreme` to one of `ends`, each refined by a
// least-squares fit to the integers it yields.
template <std::size_t N>
float best_scale(const float (&block)[kBlock], const float (&ends)[N], Range range) {
  const float extreme = extreme_of(block);
  if (std::fabs(extreme) < kSmallest) return 0.0f;
  float best = 0.0f, most = 0.0f;
  for (const float end : ends) {
    const Fit fit(block, end / extreme, range);
    const float gain = fit.dot * fit.dot / (fit.squares * end * end);
    if (gain <= most) continue;
    most = gain;
    best = extreme / end * (fit.dot / fit.squares);
  }
  return best;
}

// Rounds value / scale to integers of the range, plus the offset `zero`; returns the scale in bfloat16.
std::uint16_t round_block(const float (&block)[kBlock], float scale, Range range, int zero,
                          std::uint8_t* to) {
  const std::uint16_t rounded = bf16_from_float(scale);
  const float stored = float_from_bf16(rounded), inverse = stored != 0.0f ? 1.0f / stored : 0.0f;
  for (std::size_t i = 0; i < kBlock; ++i) {
    to[i] = static_cast<std::uint8_t>(static_cast<int>(range.round(block[i] * inverse)) + zero);
  }
  return rounded;
}

}  // namespace

float largest_magnitude(const float* values, std::size_t count) {
  return std::bit_cast<float>(largest_bits(values, count));
}

// Trying ends other than 127 improves no row by more than 1 %.
std::uint16_t round_block8(const float (&block)[kBlock], std::uint8_t* to) {
  constexpr float kEnds[] = {kZero8 - 1};
  constexpr Range kRange{-kEnds[0], kEnds[0]};
  return round_block(block, std::fabs(best_scale(block, kEnds, kRange)), kRange, kZero8, to);
}

// Maps the extreme element to -8, the longer end of the range, or to a value near it: a tenth less squared
// error than with -8 alone.
std::uint16_t round_block4(const float (&block)[kBlock], std::uint8_t* to) {
  constexpr float kEnds[] = {-8.0f, -7.5f, -7.0f, -8.5f, -9.0f};
  constexpr Range kRange{-8.0f, 7.0f};
  std::uint8_t wide[kBlock];
  const std::uint16_t scale =
      round_block(block, best_scale(block, kEnds, kRange), kRange, kZero4, wide);
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    to[i] = static_cast<std::uint8_t>(wide[2 * i] | wide[2 * i + 1] << 4);
  }
  return scale;
}

// Without branches, so that it is computed for several elements at once.
std::uint16_t f16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  const std::uint32_t odd = magnitude >> 13 & 1u;
  const std::uint32_t normal = (magnitude + 0xfffu + odd - 0x38000000u) >> 13;
  // Subnormal: float addition rounds at the right bit.
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  std::uint32_t half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x47800000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? 0x7e00u : half;  // NaN
  return static_cast<std::uint16_t>(sign | half);
}

void round_to_f16(const float* values, std::size_t count, std::uint16_t* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = f16_from_float(values[i]);
}

std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace clearformer
