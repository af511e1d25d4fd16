// Losses and their gradients against the formulas in double, and refusals.
#include "clearformer/layers/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

struct LossInDouble {
  double value = 0.0;
  std::vector<double> d;
};

LossInDouble naive_cross_entropy(const Tensor& x, const std::vector<std::int32_t>& labels,
                                 const CrossEntropy& options) {
  const std::size_t classes = x.dim(1);
  LossInDouble loss{0.0, std::vector<double>(x.elements(), 0.0)};
  double counted = 0.0;
  for (const std::int32_t label : labels) counted += label != options.ignored ? 1.0 : 0.0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] == options.ignored) continue;
    const float* const of = x.f32() + row * classes;
    double most = of[0], total = 0.0;
    for (std::size_t v = 0; v < classes; ++v) most = std::max<double>(most, of[v]);
    for (std::size_t v = 0; v < classes; ++v) total += std::exp(of[v] - most);
    for (std::size_t v = 0; v < classes; ++v) {
      const double log_p = of[v] - most - std::log(total);
      const double own = static_cast<std::int32_t>(v) == labels[row] ? 1.0 : 0.0;
      const double target =
          (1.0 - options.label_smoothing) * own +
          static_cast<double>(options.label_smoothing) / static_cast<double>(classes);
      loss.value -= target * log_p * options.weight / counted;
      loss.d[row * classes + v] = (std::exp(log_p) - target) * options.weight / counted;
    }
  }
  return loss;
}

std::vector<float> numbers_of(const Tensor& x) { return {x.f32(), x.f32() + x.elements()}; }

TEST(Losses, CrossEntropyIsTheFormula) {
  Random random(1);
  for (const std::size_t classes : {1u, 2u, 7u, 97u}) {
    const Tensor x = random.tensor({5, classes}, -6.0f, 6.0f);
    std::vector<std::int32_t> labels;
    for (std::size_t row = 0; row < 5; ++row) {
      labels.push_back(row == 2 ? -100 : static_cast<std::int32_t>(random.below(classes)));
    }
    for (const float smoothing : {0.0f, 0.1f}) {
      const CrossEntropy options{-100, smoothing, 0.7f};
      Tensor d = Tensor::zeros(x.shape());
      const LossInDouble expected = naive_cross_entropy(x, labels, options);
      const double value = cross_entropy(x, labels, d, options);
      EXPECT_NEAR(value, expected.value, 1e-6 * (1.0 + std::fabs(expected.value)));
      expect_close("gradient", numbers_of(d), expected.d, Bound{gamma(40), 0.0, gamma(40)});
      EXPECT_EQ(cross_entropy(x, labels, {}, options), value) << "without a gradient";
    }
  }
}

TEST(Losses, CrossEntropyOfLargeLogitsIsFinite) {
  Tensor x({2, 3});
  const float logits[] = {1e30f, -1e30f, 0.0f, 1e4f, 1e4f, -1e4f};
  std::copy_n(logits, 6, x.f32());
  const std::int32_t labels[] = {0, 1};
  Tensor d = Tensor::zeros(x.shape());
  EXPECT_NEAR(cross_entropy(x, labels, d, {}), std::log(2.0) / 2, 1e-6);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isfinite(d.f32()[i]));
}

// Wherever it is: p of the others is 0 in float32.
TEST(Losses, TheLargestLogitMayBeAnyClass) {
  for (const std::size_t classes : {2u, 32u, 33u, 70u}) {
    for (std::size_t most = 0; most < classes; ++most) {
      Tensor x = Tensor::zeros({1, classes});
      x.f32()[most] = 1000.0f;
      const auto label = static_cast<std::int32_t>(most), other = most == 0 ? 1 : 0;
      EXPECT_NEAR(cross_entropy(x, {&label, 1}, {}, {}), 0.0, 1e-6) << most << " of " << classes;
      EXPECT_NEAR(cross_entropy(x, {&other, 1}, {}, {}), 1000.0, 1e-3) << most << " of " << classes;
    }
  }
}

TEST(Losses, AClassThatIsRuledOutCostsNothing) {
  Tensor x = Tensor::zeros({1, 40}), d = Tensor::zeros({1, 40});
  x.f32()[39] = -std::numeric_limits<float>::infinity();
  const std::int32_t label = 3;
  EXPECT_NEAR(cross_entropy(x, {&label, 1}, d, {}), std::log(39.0), 1e-6);
  EXPECT_EQ(d.f32()[39], 0.0f);
  EXPECT_NEAR(d.f32()[3], 1.0 / 39.0 - 1.0, 1e-7);
}

TEST(Losses, NothingCountedIsNotANumber) {
  const Tensor x = Tensor::zeros({1, 3});
  const std::int32_t ignored = -100, outside = 3;
  EXPECT_TRUE(std::isnan(cross_entropy(x, {&ignored, 1}, {}, {})));
  expect_error(ErrorCode::invalid_argument, {"label 3", "3 classes"},
               [&] { cross_entropy(x, {&outside, 1}, {}, {}); });
  for (const float smoothing : {-0.1f, 1.1f, std::numeric_limits<float>::quiet_NaN()}) {
    expect_error(ErrorCode::invalid_argument, {"label_smoothing", "not 0 to 1"},
                 [&] { cross_entropy(x, {&ignored, 1}, {}, {-100, smoothing, 1.0f}); });
  }
}

TEST(Losses, CrossEntropyHasTheSameBitsWithThreads) {
  Random random(2);
  const Tensor x = random.tensor({64, 1000});
  std::vector<std::int32_t> labels;
  for (std::size_t row = 0; row < 64; ++row) {
    labels.push_back(static_cast<std::int32_t>(random.below(1000)));
  }
  Tensor alone = Tensor::zeros(x.shape()), shared = Tensor::zeros(x.shape());
  const double value = cross_entropy(x, labels, alone, {});
  set_num_threads(4);
  EXPECT_EQ(cross_entropy(x, labels, shared, {}), value);
  set_num_threads(1);
  expect_same_bits("gradient", shared, alone);
}

TEST(Losses, OfNumbersAreTheFormulas) {
  Random random(3);
  Tensor x = random.tensor({3, 4}, -5.0f, 5.0f);
  x.f32()[0] = 80.0f;
  x.f32()[1] = -80.0f;
  const std::vector<float> y = random.list(12, 0.0f, 1.0f);
  LossInDouble squares{0.0, std::vector<double>(12)}, binary = squares;
  for (std::size_t i = 0; i < 12; ++i) {
    const double logit = x.f32()[i], sigmoid = 1.0 / (1.0 + std::exp(-logit));
    squares.value += std::pow(logit - y[i], 2) * 0.5 / 12;
    squares.d[i] = 2 * (logit - y[i]) * 0.5 / 12;
    // log(1 - sigmoid) = -logit + log(sigmoid)
    const double log_own = std::min(logit, 0.0) - std::log1p(std::exp(-std::fabs(logit)));
    binary.value -= (y[i] * log_own + (1.0 - y[i]) * (log_own - logit)) * 0.5 / 12;
    binary.d[i] = (sigmoid - y[i]) * 0.5 / 12;
  }
  Tensor d = Tensor::zeros(x.shape());
  EXPECT_NEAR(squared_error(x, y.data(), d, 0.5f), squares.value, 1e-9 * squares.value);
  expect_close("squared error", numbers_of(d), squares.d, Bound{1e-9, gamma(4), 0.0});
  d = Tensor::zeros(x.shape());
  EXPECT_NEAR(binary_cross_entropy(x, y.data(), d, 0.5f), binary.value, 1e-9 * binary.value);
  expect_close("binary cross-entropy", numbers_of(d), binary.d, Bound{1e-9, gamma(4), 0.0});
}

TEST(Losses, OfSharesOfClassesAreTheFormula) {
  Random random(4);
  const Tensor x = random.tensor({3, 4}, -5.0f, 5.0f);
  const std::vector<float> y = random.list(12, 0.0f, 1.0f);
  LossInDouble wanted{0.0, std::vector<double>(12)};
  for (std::size_t at = 0; at < 12; at += 4) {
    double sum = 0.0, shares = 0.0;
    for (std::size_t v = at; v < at + 4; ++v) sum += std::exp(x.f32()[v]), shares += y[v];
    for (std::size_t v = at; v < at + 4; ++v) {
      const double p = std::exp(x.f32()[v]) / sum;
      wanted.value -= y[v] * std::log(p) * 0.5 / 3;
      wanted.d[v] = (p * shares - y[v]) * 0.5 / 3;
    }
  }
  Tensor d = Tensor::zeros(x.shape());
  EXPECT_NEAR(soft_cross_entropy(x, y.data(), d, 0.5f), wanted.value, 1e-6 * wanted.value);
  expect_close("soft cross-entropy", numbers_of(d), wanted.d, Bound{1e-7, gamma(16), 0.0});
}

}  // namespace
}  // namespace clearformer::test
