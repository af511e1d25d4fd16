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
  kernels::rotate_halves(vector.data(), zero, one, 2);  // a quarter rotation
  EXPECT_EQ(vector.values(), (std::vector<float>{-3, -4, 1, 2, 5, 6, 7}));
}

TEST(RotateInterleaved, EqualsTheNaiveTwinForAllSizes) {
  Random random(2);
  for (std::size_t pairs = 0; pairs <= 33; ++pairs) {
    for (std::size_t offset = 0; offset < 4; ++offset) {
      SCOPED_TRACE(concat("pairs ", pairs, ", offset ", offset));
      const auto x = random.list(2 * pairs + 1), cosines = random.list(pairs);
      const auto sines = random.list(pairs);
      Guarded vector(x, offset), cosine(cosines, 1), sine(sines, 2);
      kernels::rotate_interleaved(vector.data(), cosine.data(), sine.data(), pairs);
      EXPECT_TRUE(vector.intact());
      // Two products and their sum, as for the halves; the element after the pairs is unchanged.
      std::vector<double> bounds(2 * pairs + 1);
      for (std::size_t i = 0; i < 2 * pairs; ++i) {
        bounds[i] = gamma(2) * (std::abs(x[i]) + std::abs(x[i ^ 1u]));
      }
      expect_close("x", vector.values(), naive::rotate_interleaved(x, cosines, sines), bounds);
    }
  }
}

TEST(RotateInterleaved, GivesTheBitsOfRotateHalves) {
  Random random(3);
  for (std::size_t pairs = 1; pairs <= 33; ++pairs) {
    auto x = random.list(2 * pairs);
    const auto cosines = random.list(pairs), sines = random.list(pairs);
    std::vector<float> halves(2 * pairs);
    for (std::size_t i = 0; i < 2 * pairs; ++i) halves[i / 2 + i % 2 * pairs] = x[i];
    kernels::rotate_interleaved(x.data(), cosines.data(), sines.data(), pairs);
    kernels::rotate_halves(halves.data(), cosines.data(), sines.data(), pairs);
    for (std::size_t i = 0; i < 2 * pairs; ++i) {
      EXPECT_EQ(x[i], halves[i / 2 + i % 2 * pairs]) << "pairs " << pairs << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace clearformer::test
