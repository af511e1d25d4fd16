// Element types of tensors in memory, and the 16-bit float formats that checkpoints use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "clearformer/tensor/error.h"

namespace clearformer {

/// Element types of a tensor.
enum class DType { f32, f16, bf16, i32, i64, u8 };

/// Bytes per element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16: return 2;
    case DType::f32:
    case DType::i32: return 4;
    case DType::i64: return 8;
    case DType::u8: return 1;
  }
  return 0;
}

/// "f32", "bf16", …
std::string_view to_string(DType dtype);

/// The DType of a C++ element type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};

/// IEEE 754 binary16 bits to float, exact for every pattern (subnormals, infinities, NaN).
float float_from_f16(std::uint16_t bits);

/// bfloat16 bits to float: the upper half of a float, exact.
float float_from_bf16(std::uint16_t bits);

/// The 8 bits of torch.float8_e4m3fn to float, exact: no infinities, NaN is all ones.
float float_from_e4m3(std::uint8_t bits);

/// The 8 bits of torch.float8_e5m2 to float: the upper half of a binary16, exact.
float float_from_e5m2(std::uint8_t bits);

}  // namespace clearformer
