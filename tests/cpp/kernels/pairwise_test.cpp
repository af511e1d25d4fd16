#include "clearformer/kernels/pairwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "clearformer/kernels/matmul.h"
#include "support/closeness.h"
#include "support/guarded.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

using Floats = std::vector<float>;
using PairwiseKernel = std::function<void(const kernels::PairwiseArgs&)>;

struct Operands {
  std::size_t m, n, k;
  Floats queries, keys;  // (M, K), (N, K)
};

Floats packed(const Operands& x, std::size_t panel_stride) {
  const std::size_t width = kernels::panel_width(), panels = (x.n + width - 1) / width;
  Floats keys(panels * panel_stride, Guarded::sentinel());
  for (std::size_t n = 0; n < x.n; ++n) {
    for (std::size_t k = 0; k < x.k; ++k) {
      keys[n / width * panel_stride + k * width + n % width] = x.keys[n * x.k + k];
    }
  }
  return keys;
}

// Scores (M, N) without the gaps between their rows.
Floats scores_of(const Operands& x, const PairwiseKernel& kernel) {
  const std::size_t stride = x.n + 3, panel_stride = kernels::panel_width() * x.k + 5;
  Guarded queries(x.queries, 1), keys(packed(x, panel_stride), 3);
  Guarded out(x.m * stride, 2, Guarded::sentinel());
  kernels::PairwiseArgs args;
  args.queries = queries.data();
  args.query_stride = x.k;
  args.keys = keys.data();
  args.panel_stride = panel_stride;
  args.scores = out.data();
  args.score_stride = stride;
  args.m = x.m;
  args.n = x.n;
  args.k = x.k;
  kernel(args);
  EXPECT_TRUE(out.intact());
  Floats scores;
  const Floats values = out.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % stride < x.n) {
      scores.push_back(values[i]);
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]),
                std::bit_cast<std::uint32_t>(Guarded::sentinel()))
          << "the gap behind row " << i / stride << " was written";
    }
  }
  return scores;
}

// Runs all small sizes; `term` computes a summand, `error` its error bound in units of u.
void expect_right(const PairwiseKernel& kernel,
                  const std::function<double(std::size_t, double, double)>& term,
                  const std::function<double(std::size_t, double)>& magnitude, double roundings) {
  Random random(1);
  for (std::size_t n = 0; n <= 2 * kernels::panel_width() + 1; ++n) {
    const std::size_t m = n % 4, k = n % 7;
    SCOPED_TRACE(concat("M ", m, ", N ", n, ", K ", k));
    const Operands x{m, n, k, random.list(m * k, -2, 2), random.list(n * k, -2, 2)};
    std::vector<double> expected, bounds;
    for (std::size_t i = 0; i < m * n; ++i) {
      double sum = 0.0, magnitudes = 0.0;
      for (std::size_t at = 0; at < k; ++at) {
        const double value =
            term(at, double{x.queries[i / n * k + at]}, double{x.keys[i % n * k + at]});
        sum += value;
        magnitudes += magnitude(at, value);
      }
      expected.push_back(sum);
      bounds.push_back(gamma(static_cast<double>(k) + roundings) * magnitudes);
    }
    expect_close("scores", scores_of(x, kernel), expected, bounds);
  }
}

// A sum of K squares of rounded differences: each rounds twice, then K sums.
TEST(SquaredDistances, EqualTheNaiveTwinForAllSizes) {
  expect_right([](const kernels::PairwiseArgs& args) { kernels::squared_distances(args); },
               [](std::size_t, double query, double key) { return (query - key) * (query - key); },
               [](std::size_t, double value) { return std::abs(value); }, 3.0);
}

// tanh has an error of a few u of |w|·1; its argument, at most 4, is rounded to 4u, which tanh (of slope
// at most 1) propagates; then product and sums.
TEST(AdditiveScores, EqualTheNaiveTwinForAllSizes) {
  const Floats weights = Random(2).list(7);
  expect_right(
      [&](kernels::PairwiseArgs args) {
        args.weights = weights.data();
        kernels::additive_scores(args);
      },
      [&](std::size_t k, double query, double key) { return weights[k] * std::tanh(query + key); },
      [&](std::size_t k, double) { return std::abs(double{weights[k]}); }, 9.0);
}

TEST(SquaredDistances, OfEqualVectorsAreExactlyZero) {
  const Floats same = Random(3).list(40, -1e10f, 1e10f);
  EXPECT_EQ(scores_of({1, 1, 40, same, same},
                      [](const kernels::PairwiseArgs& args) { kernels::squared_distances(args); }),
            Floats{0.0f});
}

}  // namespace
}  // namespace clearformer::test
