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
      for (const bool biased : {false, true}) {
        SCOPED_TRACE(concat(width, " channels, ", taps, " taps, bias ", biased));
        const std::size_t rows = 1 + width % 5;
        const auto x = random.list((rows + taps - 1) * width), w = random.list(taps * width);
        const auto b = random.list(width);
        std::vector<double> expected(rows * width), bounds(rows * width);
        for (std::size_t i = 0; i < rows * width; ++i) {
          const std::size_t channel = i % width;
          double sum = biased ? b[channel] : 0.0, size = std::abs(sum);
          for (std::size_t tap = 0; tap < taps; ++tap) {
            const double product = double{w[tap * width + channel]} * x[i + tap * width];
            sum += product;
            size += std::abs(product);
          }
          expected[i] = sum;
          bounds[i] = gamma(static_cast<double>(taps) + 1.0) * size;  // a product, at most k sums
        }
        Guarded in(x, width % 4), weights(w, 1), bias(b, 2), out(rows * width, 3);
        kernels::short_convolution(in.data(),
                                   {weights.data(), biased ? bias.data() : nullptr, taps, width},
                                   rows, out.data());
        EXPECT_TRUE(out.intact());
        expect_close("out", out.values(), expected, bounds);
      }
    }
  }
}

}  // namespace
}  // namespace clearformer::test
