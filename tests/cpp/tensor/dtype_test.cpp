#include "clearformer/tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/fixture.h"

namespace clearformer::test {
namespace {

// The value of a float with `mantissa_bits` and an exponent with the given bias, by definition.
double value_of(unsigned bits, int mantissa_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, most = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & most;
  const double mantissa = bits & ((1u << mantissa_bits) - 1);
  const double sign = bits >> (mantissa_bits + exponent_bits) != 0 ? -1.0 : 1.0;
  if (exponent == most) {
    return mantissa == 0.0 ? sign * std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(1.0 + std::ldexp(mantissa, -mantissa_bits), exponent - bias);
}

template <class Convert>
void expect_all_patterns(Convert convert, int mantissa_bits, int exponent_bits) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double expected = value_of(bits, mantissa_bits, exponent_bits);
    const float actual = convert(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << "pattern " << bits;
    } else {
      ASSERT_EQ(double{actual}, expected) << "pattern " << bits;
    }
    ASSERT_EQ(std::signbit(actual), bits >> 15 != 0) << "pattern " << bits;
  }
}

TEST(Float16, AllPatternsAreExact) { expect_all_patterns(float_from_f16, 10, 5); }
TEST(BFloat16, AllPatternsAreExact) { expect_all_patterns(float_from_bf16, 7, 8); }

TEST(HalfFloats, EqualTheReferencePatterns) {
  const Fixture fixture("float_formats");
  const auto cases = fixture.of_op("to_float32");
  ASSERT_EQ(cases.size(), 2u);
  for (const Case* reference : cases) {
    const bool half = reference->option("dtype").string() == "fp16";
    const auto* bits = reference->input("bits").view().as<std::int64_t>();
    const auto* expected = reference->output("float32_bits").view().as<std::int64_t>();
    const std::size_t count = reference->input("bits").elements();
    ASSERT_GT(count, 500u);
    for (std::size_t i = 0; i < count; ++i) {
      const auto pattern = static_cast<std::uint16_t>(bits[i]);
      const float actual = half ? float_from_f16(pattern) : float_from_bf16(pattern);
      if (std::isnan(actual)) continue;  // payloads may differ
      EXPECT_EQ(std::bit_cast<std::uint32_t>(actual), static_cast<std::uint32_t>(expected[i]))
          << reference->name() << ", pattern " << bits[i];
    }
  }
}

TEST(DType, KnowsSizesAndNames) {
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::i32), 4u);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_EQ(size_of(DType::u8), 1u);
  EXPECT_EQ(to_string(DType::bf16), "bfloat16");
  EXPECT_EQ(to_string(DTypeOf<std::int64_t>::value), "int64");
}

}  // namespace
}  // namespace clearformer::test
