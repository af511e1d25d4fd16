#include "clearformer/kernels/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/closeness.h"
#include "support/guarded.h"
#include "support/naive_kernels.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

TEST(RotateHalves, EqualsTheNaiveTwinForAllSizes) {
  Random random(1);
  for (std::size_t half = 0; half <= 33; ++half) {
    SCOPED_TRACE(concat("half ", half));
    std::vector<float> cosines, sines;
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = 6.3 * random.unit();
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
    const auto x = random.list(2 * half);
    Guarded vector(x, half % 4), cosine(cosines, 1), sine(sines, 2);
    kernels::rotate_halves(vector.data(), cosine.data(), sine.data(), half);
    EXPECT_TRUE(vector.intact());
    // Two products and their sum: γ(2)·(|a·cos| + |b·sin|) <= γ(2)·(|a| + |b|).
    std::vector<double> bounds(2 * half);
    for (std::size_t i = 0; i < 2 * half; ++i) {
      bounds[i] = gamma(2) * (std::abs(x[i % half]) + std::abs(x[i % half + half]));
    }
    expect_close("x", vector.values(), naive::rotate_halves(x, cosines, sines), bounds);
  }
}

TEST(RotateHalves, LeavesWhatFollowsThePairs) {
  Guarded vector(std::vector<float>{1, 2, 3, 4, 5, 6, 7}, 0);
  const float zero[] = {0, 0}, one[] = {1, 1};
  kernels::rotate_halves(vector.data(), zero, one, 2);  // a quarter turn
  EXPECT_EQ(vector.values(), (std::vector<float>{-3, -4, 1, 2, 5, 6, 7}));
}

}  // namespace
}  // namespace clearformer::test
