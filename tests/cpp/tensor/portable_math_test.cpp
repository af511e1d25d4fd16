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

}  // namespace
}  // namespace clearformer::test
