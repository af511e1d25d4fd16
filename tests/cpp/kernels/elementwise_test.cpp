#include "clearformer/kernels/elementwise.h"

#include <gtest/gtest.h>

#include "support/closeness.h"
#include "support/guarded.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

// One rounding: the float reference is exact, bit for bit.
constexpr std::size_t kSizes = 2 * 16 + 1;

template <class Kernel, class Twin>
void expect_equal_for_all_sizes(Kernel kernel, Twin twin) {
  Random random(1);
  for (std::size_t count = 0; count <= kSizes; ++count) {
    for (std::size_t offset = 0; offset < 4; ++offset) {
      SCOPED_TRACE(concat(count, " elements, offset ", offset));
      const auto a = random.list(count, -9, 9), b = random.list(count, -9, 9);
      std::vector<float> expected(count);
      for (std::size_t i = 0; i < count; ++i) expected[i] = twin(a[i], b[i]);
      Guarded left(a, offset), right(b, 3 - offset), out(count, offset + 1);
      kernel(left.data(), right.data(), out.data(), count);
      EXPECT_TRUE(out.intact());
      expect_same_bits("out", out.values(), expected);
      kernel(left.data(), right.data(), left.data(), count);
      EXPECT_TRUE(left.intact());
      expect_same_bits("in place of a", left.values(), expected);
    }
  }
}

TEST(Elementwise, AddIsExact) {
  expect_equal_for_all_sizes([](const float* a, const float* b, float* out,
                                std::size_t count) { kernels::add(a, b, out, count); },
                             [](float a, float b) { return a + b; });
}

TEST(Elementwise, MultiplyIsExact) {
  expect_equal_for_all_sizes([](const float* a, const float* b, float* out,
                                std::size_t count) { kernels::multiply(a, b, out, count); },
                             [](float a, float b) { return a * b; });
}

TEST(Elementwise, ScaleIsExact) {
  Random random(2);
  for (std::size_t count = 0; count <= kSizes; ++count) {
    const auto x = random.list(count, -9, 9);
    std::vector<float> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = x[i] * 0.3f;
    Guarded values(x, count % 4);
    kernels::scale(values.data(), 0.3f, count);
    EXPECT_TRUE(values.intact());
    expect_same_bits("x", values.values(), expected);
  }
}

}  // namespace
}  // namespace clearformer::test
