#include "clearformer/tensor/dtype.h"

#include <bit>

namespace clearformer {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float32";
    case DType::f16: return "float16";
    case DType::bf16: return "bfloat16";
    case DType::i32: return "int32";
    case DType::i64: return "int64";
    case DType::u8: return "uint8";
  }
  return "unknown";
}

float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(bits & 0x7fffu) << 13;
  if ((bits & 0x7c00u) == 0x7c00u) return std::bit_cast<float>(sign | rest | 0x7f800000u);
  // Exponent and mantissa are in place; multiplying by 2^112 changes the bias from 15 to 127 and normalises
  // subnormals.
  const float magnitude = std::bit_cast<float>(rest) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float float_from_e4m3(std::uint8_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80u) << 24;
  const std::uint32_t rest = static_cast<std::uint32_t>(bits & 0x7fu) << 20;
  if ((bits & 0x7fu) == 0x7fu) return std::bit_cast<float>(sign | 0x7fc00000u);
  // As above: multiplying by 2^120 changes the bias from 7 to 127.
  const float magnitude = std::bit_cast<float>(rest) * 0x1p120f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

float float_from_e5m2(std::uint8_t bits) {
  return float_from_f16(static_cast<std::uint16_t>(bits << 8));
}

}  // namespace clearformer
