#include "clearformer/tensor/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr double kDoubleEpsilon = std::numeric_limits<double>::epsilon();

TEST(PortableMath, ExpIsWithinTwoUnitsOfTheLibrarys) {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const double x = -690.0 + 1390.0 * random.unit() * random.unit();
    EXPECT_NEAR(portable_exp(x), std::exp(x), 2.0 * kDoubleEpsilon * std::exp(x)) << x;
  }
  EXPECT_EQ(portable_exp(0.0), 1.0);
}

TEST(PortableMath, ExpHasNoEdges) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable_exp(-infinity), 0.0);
  EXPECT_EQ(portable_exp(-701.0), 0.0);
  EXPECT_EQ(portable_exp(710.0), infinity);
  EXPECT_EQ(portable_exp(infinity), infinity);
  EXPECT_EQ(portable_exp(std::numeric_limits<double>::quiet_NaN()), 0.0);
}

TEST(PortableMath, LogIsWithinTwoUnitsOfTheLibrarys) {
  Random random(2);
  for (int i = 0; i < 200'000; ++i) {
    const double x = std::exp(-600.0 + 1200.0 * random.unit());
    EXPECT_NEAR(portable_log(x), std::log(x),
                2.0 * kDoubleEpsilon * std::max(1.0, std::fabs(std::log(x))))
        << x;
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
}

TEST(PortableMath, PowerOfALengthIsTheLibrarysInFloat) {
  for (int length = 1; length <= 5000; ++length) {
    EXPECT_EQ(static_cast<float>(portable_pow(length, 1.0)), static_cast<float>(length));
    for (const double exponent : {-2.0, -1.0, 0.6, 2.0}) {
      const double exact = std::pow(length, exponent);
      EXPECT_NEAR(portable_pow(length, exponent), exact, 40.0 * kDoubleEpsilon * exact);
    }
  }
}

// The C library's results are within one unit of the exact ones, 1.2e-16 between 0.5 and 1.
TEST(PortableMath, SineAndCosineAreTheLibrarysOfEveryAngle) {
  Random random(3);
  for (int i = 0; i < 400'000; ++i) {
    const double x = std::ldexp(2.0 * random.unit() - 1.0, i % 32);
    const SineCosine found = portable_sine_cosine(x);
    EXPECT_NEAR(found.sine, std::sin(x), 4.2e-16) << x;
    EXPECT_NEAR(found.cosine, std::cos(x), 4.2e-16) << x;
  }
}

TEST(PortableMath, SineAndCosineHitTheAxes) {
  const double half_pi = std::acos(0.0);
  EXPECT_EQ(portable_sine_cosine(0.0).sine, 0.0);
  EXPECT_EQ(portable_sine_cosine(0.0).cosine, 1.0);
  for (int k = -2000; k <= 2000; ++k) {
    const SineCosine found = portable_sine_cosine(k * half_pi);
    EXPECT_NEAR(found.sine, std::sin(k * half_pi), 4.2e-16) << k;
    EXPECT_NEAR(found.cosine, std::cos(k * half_pi), 4.2e-16) << k;
  }
  for (const double x : {1e10, -1e20, 1e300})
    EXPECT_LE(std::fabs(portable_sine_cosine(x).sine), 1.0);
  for (const double x : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    EXPECT_TRUE(std::isnan(portable_sine_cosine(x).sine)) << x;
    EXPECT_TRUE(std::isnan(portable_sine_cosine(x).cosine)) << x;
  }
}

}  // namespace
}  // namespace clearformer::test
