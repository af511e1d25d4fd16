#include "clearformer/kernels/short_convolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/closeness.h"
#include "support/guarded.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

TEST(ShortConvolution, EqualsTheNaiveTwinForAllSizes) {
  Random random(1);
  for (std::size_t width = 0; width <= 33; ++width) {
    for (const std::size_t taps : {1u, 2u, 3u, 4u, 7u}) {
      SCOPED_TRACE(concat(width, " channels, ", taps, " taps"));
      const auto x = random.list(taps * width), w = random.list(taps * width);
      const auto before = random.list(width);
      std::vector<double> expected(width), bounds(width);
      for (std::size_t channel = 0; channel < width; ++channel) {
        double sum = before[channel], size = std::abs(sum);
        for (std::size_t at = channel; at < taps * width; at += width) {
          sum += double{w[at]} * x[at];
          size += std::abs(double{w[at]} * x[at]);
        }
        expected[channel] = sum;
        bounds[channel] = gamma(static_cast<double>(taps) + 1.0) * size;  // a product, k sums
      }
      Guarded in(x, width % 4), weights(w, 1), out(before, 3);
      kernels::short_convolution(in.data(), weights.data(), taps, width, out.data());
      EXPECT_TRUE(out.intact());
      expect_close("out", out.values(), expected, bounds);
    }
  }
}

}  // namespace
}  // namespace clearformer::test
