// Mixtures of experts against a naive twin: which experts are chosen, their weights and sums, edits that choose others.
#include "clearformer/layers/mixture_of_experts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "clearformer/layers/gradient.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/layer_weights.h"
#include "support/naive_kernels.h"
#include "support/naive_layers.h"

namespace clearformer::test {
namespace {

class MixtureOf : public ::testing::TestWithParam<RouterConfig> {
 public:
  using By = RouterConfig::ChosenBy;
  static constexpr std::size_t kWidth = 10, kInner = 13, kExperts = 5, kChosen = 2;
  static constexpr std::size_t kBatch = 2, kLength = 4, kRows = kBatch * kLength;

 protected:
  struct Expert {
    Tensor gate, up, down;
  };
  // |x| < 1 and |W| < 0.3: |pre| < 3, |hidden| < 9, |out| < 13·2.7 = 35; some 40 roundings.
  const Bound kSums{gamma(40) * 35.0}, kWeights{gamma(40)};

  MixtureOf() {
    router_ = weights_.add("gate.weight", {kExperts, kWidth});
    for (std::size_t i = 0; i < kExperts; ++i) {
      const auto add = [&](const char* name, std::size_t out, std::size_t in) {
        return weights_.add(concat("experts.", i, ".", name, "_proj.weight"), {out, in}, -0.3f,
                            0.3f);
      };
      experts_.push_back(
          {add("gate", kInner, kWidth), add("up", kInner, kWidth), add("down", kWidth, kInner)});
    }
    FeedForwardConfig config{kWidth, kInner, Activation::silu, Gate::present, Bias::none};
    config.router = GetParam();
    layer_.emplace(weights_.scope(), config);
    weights_.check();
  }

  Tensor run(const Tensor& x, Trace* trace = nullptr) {
    Tensor out(x.shape());
    layer_->forward(x, out, {arena_, TraceScope(trace)});
    return out;
  }

  std::vector<double> output_of(std::size_t expert, const std::vector<double>& row) const {
    const auto& [gate, up, down] = experts_[expert];
    std::vector<double> hidden = naive::linear(row, gate, {});
    const std::vector<double> linear = naive::linear(row, up, {});
    for (std::size_t i = 0; i < kInner; ++i) hidden[i] = naive::silu(hidden[i]) * linear[i];
    return naive::linear(hidden, down, {});
  }

  // The weights of all experts for logits that differ.
  static std::vector<double> weights_of(const std::vector<double>& logits) {
    const auto& [experts, chosen, by, normalized] = GetParam();
    double all = 0.0, some = 0.0;
    for (const double logit : logits) all += std::exp(logit);
    std::vector<double> weights(experts, 0.0);
    for (std::size_t i = 0; i < experts; ++i) {
      std::size_t better = 0;
      for (const double logit : logits) better += logit > logits[i] ? 1 : 0;
      if (better < chosen) some += weights[i] = std::exp(logits[i]) / all;
    }
    for (double& weight : weights) weight /= normalized || by == By::logit ? some : 1.0;
    return weights;
  }

  static std::vector<double> row_of(const Tensor& x, std::size_t row) {
    const float* const first = x.f32() + row * x.shape().back(0);
    return {first, first + x.shape().back(0)};
  }

  // Σ w·FFN(x) with the weights (…, E) for the rows of x (…, D).
  Numbers sums_of(const Tensor& x, const Tensor& weights) const {
    std::vector<double> sums;
    for (std::size_t row = 0; row < x.shape().outer(1); ++row) {
      std::vector<double> sum(kWidth, 0.0);
      for (std::size_t expert = 0; expert < kExperts; ++expert) {
        const double weight = row_of(weights, row)[expert];
        const std::vector<double> out = output_of(expert, row_of(x, row));
        for (std::size_t i = 0; i < kWidth; ++i) sum[i] += weight * out[i];
      }
      sums.insert(sums.end(), sum.begin(), sum.end());
    }
    Numbers numbers(std::move(sums));
    numbers.shape = x.shape();
    return numbers;
  }

  Arena arena_;
  LayerWeights weights_;
  Tensor router_;
  std::vector<Expert> experts_;
  std::optional<FeedForward> layer_;
};

TEST_P(MixtureOf, EqualsTheNaiveTwinAndShowsItsRouting) {
  const Tensor x = Random(2).tensor({kBatch, kLength, kWidth});
  Trace trace;
  trace.capture("*");
  const Tensor out = run(x, &trace);
  ASSERT_EQ(trace.captured().size(), 2u);
  std::vector<double> logits, weights;
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::vector<double> of_row = naive::linear(row_of(x, row), router_, {});
    const std::vector<double> chosen = weights_of(of_row);
    logits.insert(logits.end(), of_row.begin(), of_row.end());
    weights.insert(weights.end(), chosen.begin(), chosen.end());
  }
  const auto shaped = [](std::vector<double> values) {
    Numbers numbers(std::move(values));
    numbers.shape = {kBatch, kLength, kExperts};
    return numbers;
  };
  const Tensor& found = trace.at("hook_expert_weights");
  expect_close("logits", trace.at("hook_router_logits"), shaped(logits), Bound{gamma(11) * 10.0});
  expect_close("weights", found, shaped(weights), kWeights);
  for (std::size_t i = 0; i < found.elements(); ++i) {
    EXPECT_EQ(found.f32()[i] == 0.0f, weights[i] == 0.0) << "not chosen: exactly 0";
  }
  expect_close("out", out, sums_of(x, found), kSums);
  expect_same_bits("without a trace", run(x), out);
}

// Which other rows are computed at once does not change a row, nor what it is added to.
TEST_P(MixtureOf, ARowIsTheSameByItself) {
  const Tensor x = Random(4).tensor({kBatch, kLength, kWidth});
  const Tensor together = run(x);
  for (std::size_t row = 0; row < kRows; ++row) {
    Tensor alone({1, 1, kWidth});
    std::memcpy(alone.data(), x.f32() + row * kWidth, alone.view().bytes());
    const TensorView expected(together.f32() + row * kWidth, DType::f32, alone.shape());
    expect_same_bits("row", run(alone), expected);
  }
  Tensor onto = x.clone();
  layer_->forward(x, onto, {arena_, TraceScope()}, Write::onto);
  for (std::size_t i = 0; i < x.elements(); ++i) {
    EXPECT_EQ(onto.f32()[i], x.f32()[i] + together.f32()[i]);
  }
}

TEST_P(MixtureOf, OfEqualLogitsTheLowerExpertsAreChosen) {
  Trace trace;
  trace.capture("*");
  run(Tensor::zeros({1, 1, kWidth}), &trace);
  const double whole = GetParam().by == By::logit || GetParam().normalized ? kChosen : kExperts;
  for (std::size_t i = 0; i < kExperts; ++i) {
    EXPECT_NEAR(trace.at("hook_expert_weights").f32()[i], i < kChosen ? 1.0 / whole : 0.0, 1e-7);
  }
}

TEST_P(MixtureOf, EditsChooseOtherExperts) {
  const Tensor x = Random(6).tensor({1, kLength, kWidth});
  const auto edited = [&](const char* hook, float value, std::vector<std::int64_t> experts) {
    Trace trace;
    trace.capture("*");
    Edit edit;
    edit.hook = hook;
    edit.op = Edit::Op::replace;
    edit.features = std::move(experts);
    edit.value = Tensor::zeros({1});
    edit.value.f32()[0] = value;
    trace.edit(std::move(edit));
    const Tensor out = run(x, &trace);
    const Tensor& weights = trace.at("hook_expert_weights");
    expect_close("out", out, sums_of(x, weights), kSums);
    return weights.clone();
  };
  const Tensor most = edited("hook_router_logits", 30.0f, {3});
  const Tensor more = edited("hook_expert_weights", 0.5f, {});
  for (std::size_t row = 0; row < kLength; ++row) {
    EXPECT_NEAR(row_of(most, row)[3], 1.0, 1e-6) << "the logits decide";
    EXPECT_EQ(row_of(more, row), std::vector<double>(kExperts, 0.5)) << "all, or none, may be";
  }
}

// Also where they are computed, since the gradient of all weights is sought.
TEST_P(MixtureOf, ExpertsThatWereNotChosenAddNothing) {
  LayerWeights weights;
  weights.add("gate.weight", {kExperts, kWidth});
  for (std::size_t i = 0; i < kExperts; ++i) {
    const auto add = [&](const char* name, std::size_t out, std::size_t in, float most) {
      weights.add(concat("experts.", i, ".", name, "_proj.weight"), {out, in}, -most, most);
    };
    add("gate", kInner, kWidth, 1.0f);
    add("up", kInner, kWidth, 1.0f);
    add("down", kWidth, kInner, i == 4 ? 3e38f : 1.0f);  // whose sums are infinite
  }
  FeedForwardConfig config{kWidth, kInner, Activation::silu, Gate::present, Bias::none};
  config.router = GetParam();
  const FeedForward layer(weights.scope(), config);
  const Tensor x = Random(8).tensor({kBatch, kLength, kWidth}, 1.0f, 9.0f);
  const auto output = [&](Gradient* gradient) {
    Trace trace;
    Edit never;
    never.hook = "hook_router_logits";
    never.op = Edit::Op::replace;
    never.features = {4};
    never.value = Tensor::zeros({1});
    never.value.f32()[0] = -1e6f;
    trace.edit(std::move(never));
    if (gradient != nullptr) trace.differentiate(gradient);
    Tensor out(x.shape());
    layer.forward(x, out, {arena_, TraceScope(&trace)});
    return out;
  };
  Gradient gradient;
  gradient.want("hook_expert_weights");
  gradient.begin_layers();
  const Tensor plain = output(nullptr);
  EXPECT_TRUE(std::isfinite(plain.f32()[0]));
  expect_same_bits("with a gradient", output(&gradient), plain);
}

TEST(MixtureOfExperts, ChoosesOneAtLeastAndNoMoreThanThereAre) {
  for (const std::size_t chosen : {0u, 3u}) {
    LayerWeights weights;
    FeedForwardConfig config{4, 4, Activation::silu, Gate::present, Bias::none};
    config.router.experts = 2;
    config.router.chosen = chosen;
    expect_error(ErrorCode::invalid_argument, {concat(chosen, " of 2 experts")},
                 [&] { FeedForward(weights.scope(), config); });
  }
}

INSTANTIATE_TEST_SUITE_P(Routers, MixtureOf,
                         ::testing::Values(RouterConfig{MixtureOf::kExperts, MixtureOf::kChosen,
                                                        MixtureOf::By::probability, true},
                                           RouterConfig{MixtureOf::kExperts, MixtureOf::kChosen,
                                                        MixtureOf::By::probability, false},
                                           RouterConfig{MixtureOf::kExperts, MixtureOf::kChosen,
                                                        MixtureOf::By::logit, true}));

}  // namespace
}  // namespace clearformer::test
