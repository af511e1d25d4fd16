#include "clearformer/tensor/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "clearformer/tensor/rotation.h"

namespace clearformer {

namespace {

constexpr std::size_t kRowMultiple = 32;  // an upper bound of a panel's columns
constexpr float kLargestF16 = 65504.0f;
constexpr float kLargestRotated = 1e37f;  // 64 of them may be added

// Elements of `values` per row.
std::size_t row_elements(MatrixFormat format, std::size_t inputs) {
  if (!is_quantized(format)) return inputs;
  return blocks_of(inputs) * (format == MatrixFormat::q4 ? kBlock / 2 : kBlock);
}

// Bytes that a panel holds for each output and block beside the integers: the scale, for eight bits also a sum.
std::size_t block_extra(MatrixFormat format) {
  return !is_quantized(format) ? 0 : format == MatrixFormat::q4 ? 2 : 4;
}

DType dtype_of(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::f32: return DType::f32;
    case MatrixFormat::f16: return DType::f16;
    default: return DType::u8;
  }
}

// Rows and blocks whose largest magnitude is below this are stored as zeros: dividing by their scale would
// overflow.
constexpr float kSmallest = 1e-30f;

// The element of largest magnitude, with its sign.
float extreme_of(const float* values) {
  float extreme = 0.0f;
  for (std::size_t i = 0; i < kBlock; ++i) {
    if (std::fabs(values[i]) > std::fabs(extreme)) extreme = values[i];
  }
  return extreme;
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

  Fit(const float* values, float inverse, Range range) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float t = values[i] * inverse, u = range.round(t);
      dot += t * u;
      squares += u * u;
    }
  }
};

// The scale of least squared error among those that map `extreme` to one of `ends`, each refined by a
// least-squares fit to the integers it yields.
template <std::size_t N>
float best_scale(const float* values, const float (&ends)[N], Range range) {
  const float extreme = extreme_of(values);
  if (std::fabs(extreme) < kSmallest) return 0.0f;
  float best = 0.0f, most = 0.0f;
  for (const float end : ends) {
    const Fit fit(values, end / extreme, range);
    const float gain = fit.dot * fit.dot / (fit.squares * end * end);
    if (gain <= most) continue;
    most = gain;
    best = extreme / end * (fit.dot / fit.squares);
  }
  return best;
}

// `value / scale` rounded to an integer of the range, plus the offset `zero`.
std::uint8_t stored(float value, float inverse, Range range, int zero) {
  return static_cast<std::uint8_t>(static_cast<int>(range.round(value * inverse)) + zero);
}

float inverse_of(float scale) { return scale != 0.0f ? 1.0f / scale : 0.0f; }

// Rounds a block to integers of the range, plus the offset `zero`; returns the scale in bfloat16.
std::uint16_t round_block(const float* block, float scale, Range range, int zero,
                          std::uint8_t* to) {
  const std::uint16_t rounded = bf16_from_float(scale);
  const float inverse = inverse_of(float_from_bf16(rounded));
  for (std::size_t i = 0; i < kBlock; ++i) to[i] = stored(block[i], inverse, range, zero);
  return rounded;
}

// Trying ends other than 127 improves no row by more than 1 %.
std::uint16_t set_block8(const float* block, std::uint8_t* to) {
  constexpr float kEnds[] = {Matrix::kZero8 - 1};
  constexpr Range kRange{-kEnds[0], kEnds[0]};
  return round_block(block, std::fabs(best_scale(block, kEnds, kRange)), kRange, Matrix::kZero8,
                     to);
}

// Maps the extreme element to -8, the longer end of the range, or to a value near it: a tenth less squared
// error than with -8 alone.
std::uint16_t set_block4(const float* block, std::uint8_t* to) {
  constexpr float kEnds[] = {-8.0f, -7.5f, -7.0f, -8.5f, -9.0f};
  constexpr Range kRange{-8.0f, 7.0f};
  std::uint8_t wide[kBlock];
  const std::uint16_t scale =
      round_block(block, best_scale(block, kEnds, kRange), kRange, Matrix::kZero4, wide);
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    to[i] = static_cast<std::uint8_t>(wide[2 * i] | wide[2 * i + 1] << 4);
  }
  return scale;
}

}  // namespace

std::optional<MatrixFormat> matrix_format_named(std::string_view name) {
  for (const MatrixFormat format :
       {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8, MatrixFormat::q4}) {
    if (to_string(format) == name) return format;
  }
  return std::nullopt;
}

std::string_view to_string(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::f32: return "fp32";
    case MatrixFormat::f16: return "fp16";
    case MatrixFormat::q8_fine:
    case MatrixFormat::q8: return "q8";
    case MatrixFormat::q4: return "q4";
  }
  return "unknown";
}

Matrix::Matrix(Tensor rows) {
  if (rows.empty()) return;
  outputs_ = rows.dim(0);
  inputs_ = rows.dim(1);
  values_ = std::move(rows);
}

Matrix::Matrix(MatrixFormat format, std::size_t outputs, std::size_t inputs)
    : format_(format), outputs_(outputs), inputs_(inputs) {
  const std::size_t elements = row_elements(format, inputs);
  const std::size_t added = (kRowMultiple - outputs % kRowMultiple) % kRowMultiple;
  const std::size_t spare =
      added * elements + (outputs + added) * blocks_of(inputs) * block_extra(format);
  values_ = Tensor({outputs, elements}, dtype_of(format), spare);
}

TensorView Matrix::scales() const {
  if (!is_quantized(format_)) return {};
  const auto* end = static_cast<const unsigned char*>(values_.data()) + values_.elements();
  return {end, DType::bf16, {outputs_, blocks_of(inputs_)}};
}

const std::uint16_t* Matrix::scale_row(std::size_t output) const {
  return static_cast<const std::uint16_t*>(scales().data()) + output * blocks_of(inputs_);
}

Matrix Matrix::of(const TensorView& rows, MatrixFormat format) {
  Matrix matrix(format, rows.dim(0), rows.dim(1));
  for (std::size_t row = 0; row < matrix.outputs_; ++row) {
    const float* from = rows.f32() + row * matrix.inputs_;
    if (!matrix.holds(from)) return Matrix(Tensor::copy_of(rows));
    matrix.set_row(row, from);
  }
  return matrix;
}

std::uint64_t Matrix::bytes_of(MatrixFormat format, std::size_t outputs, std::size_t inputs) {
  std::uint64_t row = std::uint64_t{row_elements(format, inputs)} * size_of(dtype_of(format));
  row += std::uint64_t{blocks_of(inputs)} * block_extra(format);
  return row * outputs;
}

bool Matrix::holds(const float* row) const {
  if (format_ == MatrixFormat::f32) return true;
  const float limit = format_ == MatrixFormat::f16 ? kLargestF16 : kLargestRotated;
  return std::all_of(row, row + inputs_, [limit](float x) { return std::fabs(x) <= limit; });
}

void Matrix::set_row(std::size_t output, const float* row) {
  if (format_ == MatrixFormat::f32) {
    std::copy_n(row, inputs_, values_.f32() + output * inputs_);
  } else if (format_ == MatrixFormat::f16) {
    auto* to = static_cast<std::uint16_t*>(values_.data()) + output * inputs_;
    std::transform(row, row + inputs_, to, f16_from_float);
  } else {
    auto* to = static_cast<std::uint8_t*>(values_.data()) + output * values_.dim(1);
    auto* scales = const_cast<std::uint16_t*>(scale_row(output));
    for (std::size_t first = 0; first < inputs_; first += kBlock) {
      float block[kBlock] = {};
      std::copy_n(row + first, std::min(kBlock, inputs_ - first), block);
      rotate(block);
      *scales++ = format_ == MatrixFormat::q4 ? set_block4(block, to + first / 2)
                                              : set_block8(block, to + first);
    }
  }
}

void Matrix::copy_row(std::size_t output, float* to) const {
  if (format_ == MatrixFormat::f32) {
    std::copy_n(values_.f32() + output * inputs_, inputs_, to);
    return;
  }
  if (format_ == MatrixFormat::f16) {
    const auto* from = static_cast<const std::uint16_t*>(values_.data()) + output * inputs_;
    std::transform(from, from + inputs_, to, float_from_f16);
    return;
  }
  const auto* from = static_cast<const std::uint8_t*>(values_.data()) + output * values_.dim(1);
  const std::uint16_t* scales = scale_row(output);
  for (std::size_t first = 0; first < inputs_; first += kBlock) {
    float block[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::size_t k = first + i;
      const int number = format_ == MatrixFormat::q4 ? (from[k / 2] >> (k % 2 * 4) & 15) - kZero4
                                                     : from[k] - kZero8;
      block[i] = float_from_bf16(scales[k / kBlock]) * static_cast<float>(number);
    }
    rotate(block);
    std::copy_n(block, std::min(kBlock, inputs_ - first), to + first);
  }
}

Matrix Matrix::widened() const {
  Matrix wide(MatrixFormat::f32, outputs_, inputs_);
  for (std::size_t row = 0; row < outputs_; ++row) {
    copy_row(row, wide.values_.f32() + row * inputs_);
  }
  return wide;
}

Matrix Matrix::slice(const RowRuns& rows) const {
  Matrix part(format_, rows.count * rows.runs, inputs_);
  const auto copy = [&](const TensorView& from, const TensorView& to) {
    const std::size_t row = from.bytes() / outputs_;
    const auto* bytes = static_cast<const char*>(from.data());
    auto* written = static_cast<char*>(const_cast<void*>(to.data()));
    for (std::size_t run = 0; run < rows.runs; ++run) {
      std::memcpy(written + run * rows.count * row, bytes + (rows.first + run * rows.stride) * row,
                  rows.count * row);
    }
  };
  copy(values_, part.values_);
  if (is_quantized(format_)) copy(scales(), part.scales());
  return part;
}

std::uint16_t f16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);  // NaN
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal: float addition rounds at the right bit
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = magnitude >> 13 & 1u;
  const std::uint32_t half = (magnitude + 0xfffu + odd - 0x38000000u) >> 13;
  return static_cast<std::uint16_t>(sign | half);
}

std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace clearformer
