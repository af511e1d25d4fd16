// Attention pooling against torch: scaled_dot_product_attention, and every scoring function.

#include "clearformer/layers/attention_pooling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "clearformer/layers/functional.h"
#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/masks.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

double largest(TensorView x) {
  double top = 0.0;
  for (const double value : Numbers(x).values) {
    if (std::isfinite(value)) top = std::max(top, std::abs(value));
  }
  return top;
}

// Error bounds of scores, weights and output. A score of n products, each at most q·k, is off
// by δ <= γ(n + 4)·n·q·k·scale (with its scaling, softcap and mask); exp turns that into a relative
// error, once in the numerator and once in the denominator, with S more sums and a dozen roundings of exp
// and tanh; the output averages values no larger than v.
struct PoolingBounds {
  Bound scores, weights, output;
};
PoolingBounds bounds_of(std::size_t features, double query, double key, double value, double scale,
                        std::size_t keys, double mask) {
  const auto n = static_cast<double>(features), s = static_cast<double>(keys);
  const double score = gamma(n + 4.0) * n * query * key * scale + gamma(2.0) * mask;
  const double weight = 2.0 * score + gamma(s + 24.0);
  return {{score, gamma(8.0)}, {0x1p-126, weight}, {(weight + gamma(s)) * value, 0.0}};
}

PoolingOptions torch_options(const Case& example) {
  PoolingOptions options;
  const Json& json = example.options();
  if (const Json* scale = json.find("scale")) {
    options.score.set("scale", static_cast<float>(scale->number()));
  }
  if (const Json* cap = json.find("softcap")) options.softcap = static_cast<float>(cap->number());
  const Json* grouped = json.find("enable_gqa");
  if (grouped != nullptr && grouped->boolean()) options.groups = PoolingOptions::Groups::grouped;
  options.mask =
      mask_input(example, "attn_mask", Truth::attend) & mask_input(example, "bias", Truth::attend);
  const Json* causal = json.find("is_causal");
  if (causal != nullptr && causal->boolean()) options.mask = options.mask & Mask::causal();
  options.keep = PoolingOptions::Keep::weights;
  return options;
}

TEST(AttentionPooling, EqualsScaledDotProductAttention) {
  const Fixture fixture("scaled_dot_product_attention");
  for (const Case* example : fixture.of_op("scaled_dot_product_attention")) {
    SCOPED_TRACE(example->name());
    const Tensor &q = example->input("query"), &k = example->input("key"),
                 &v = example->input("value");
    const PoolingOptions options = torch_options(*example);
    const Pooled pooled = attention_pooling(q, k, v, options);
    const std::size_t width = q.shape().back(0);
    double mask = 0.0;
    for (const char* name : {"attn_mask_additive", "bias_additive"}) {
      if (example->has_input(name)) mask += largest(example->input(name));
    }
    const Json* given = example->options().find("scale");
    const double scale =
        given != nullptr ? std::abs(given->number()) : 1.0 / std::sqrt(static_cast<double>(width));
    const PoolingBounds bounds =
        bounds_of(width, largest(q), largest(k), largest(v), scale, k.shape().back(1), mask);
    expect_close("output", pooled.output, example->output("output"), bounds.output);
    if (example->has_output("weights")) {
      expect_close("weights", pooled.kept, example->output("weights"), bounds.weights);
    }
  }
}

// The case's scoring function: its numbers are options, its tensors the inputs that are not operands.
Scoring scoring_of(const Case& example) {
  Scoring scoring{example.option("score").string()};
  for (const auto& [name, value] : example.options().object()) {
    if (value.is_number()) scoring.set(name, static_cast<float>(value.number()));
  }
  for (const std::string& name : example.inputs()) {
    const bool operand = name == "queries" || name == "keys" || name == "values";
    if (!operand && name != "valid_lens") scoring.set(name, example.input(name).clone());
  }
  return scoring;
}

// The case gives the number of successive roundings and the sum of a score's magnitudes; scale,
// tanh and the mask round a dozen times more.
PoolingBounds scoring_bounds(const Case& example) {
  const double roundings = example.member("roundings").number() + 12.0;
  const double score = gamma(roundings) * largest(example.output("magnitudes"));
  const auto keys = static_cast<double>(example.input("keys").shape().back(1));
  const double weight = 2.0 * score + gamma(keys + 24.0);
  const double value = largest(example.input("values"));
  return {{score}, {0x1p-126, weight}, {(weight + gamma(keys)) * value, 0.0}};
}

TEST(AttentionPooling, EveryScore) {
  const Fixture fixture("scoring");
  for (const Case* example : fixture.of_op("attention_pooling")) {
    SCOPED_TRACE(example->name());
    PoolingOptions options;
    options.score = scoring_of(*example);
    options.empty_row = EmptyRow::uniform;
    if (example->has_input("valid_lens")) {
      options.mask = Mask::valid_lens(example->int32_input("valid_lens"));
    }
    const PoolingBounds bounds = scoring_bounds(*example);
    options.keep = PoolingOptions::Keep::raw_scores;
    const auto pool = [&] {
      return attention_pooling(example->input("queries"), example->input("keys"),
                               example->input("values"), options);
    };
    expect_close("scores", pool().kept, example->output("scores"), bounds.scores);
    options.keep = PoolingOptions::Keep::weights;
    const Pooled pooled = pool();
    expect_close("weights", pooled.kept, example->output("weights"), bounds.weights);
    expect_close("output", pooled.output, example->output("output"), bounds.output);
  }
}

TEST(AttentionPooling, AScoreThatDoesNotFitIsRefusedByName) {
  const Tensor x = Tensor::zeros({2, 3, 4}), narrow = Tensor::zeros({2, 3, 5});
  const auto refuse = [&](ErrorCode code, const std::vector<std::string>& words, Scoring score,
                          const Tensor& keys) {
    PoolingOptions options;
    options.score = std::move(score);
    expect_error(code, words, [&] { attention_pooling(x, keys, keys, options); });
  };
  refuse(ErrorCode::unsupported, {"cosine"}, {"cosine"}, x);
  refuse(ErrorCode::invalid_argument, {"general", "M"}, {"general"}, x);
  refuse(ErrorCode::invalid_argument, {"dot", "sigma"}, Scoring{"dot"}.set("sigma", 1.0f), x);
  refuse(ErrorCode::invalid_argument, {"sigma", "-1"}, Scoring{"distance"}.set("sigma", -1.0f), x);
  refuse(ErrorCode::shape_mismatch, {"4 features", "have 5"}, {"dot"}, narrow);
  refuse(ErrorCode::shape_mismatch, {"M", "[4, 5]"},
         Scoring{"general"}.set("M", Tensor::zeros({4, 4})), narrow);
  Scoring additive{"additive"};
  additive.set("W_q", Tensor::zeros({6, 4})).set("W_k", Tensor::zeros({7, 5}));
  additive.set("w_v", Tensor::zeros({6}));
  refuse(ErrorCode::shape_mismatch, {"W_q", "6", "W_k 7"}, std::move(additive), narrow);
  Scoring of_bytes{"additive"};
  of_bytes.set("W_q", Tensor::zeros({6, 4}, DType::u8)).set("W_k", Tensor::zeros({6, 4}));
  of_bytes.set("w_v", Tensor::zeros({6}));
  refuse(ErrorCode::dtype_mismatch, {"[6, 4]", "uint8"}, std::move(of_bytes), x);
}

TEST(AttentionPooling, NormalisedKeysMakeDistanceAndDotTheSame) {
  const Fixture fixture("scoring");
  for (const Case* example : fixture.of_op("dot_equals_distance")) {
    const Tensor &q = example->input("queries"), &k = example->input("keys");
    PoolingOptions dot, distance;
    dot.score.name = "dot";
    distance.score.name = "distance";
    dot.keep = distance.keep = PoolingOptions::Keep::weights;
    const Tensor by_dot = attention_pooling(q, k, k, dot).kept;
    const Tensor by_distance = attention_pooling(q, k, k, distance).kept;
    const std::size_t width = q.shape().back(0);
    const double reach = largest(q) + largest(k);
    const PoolingBounds bounds = bounds_of(width, reach, reach, 1.0, 1.0, k.shape().back(1), 0.0);
    expect_close("dot", by_dot, example->output("dot_weights"), bounds.weights);
    expect_close("distance", by_distance, example->output("distance_weights"), bounds.weights);
    expect_close("the same", by_distance, by_dot, bounds.weights);
  }
}

// Operands (A, B, H, T, d): a mask (B, 1, T, S) aligns with axis B, for any A.
TEST(AttentionPooling, AMaskOfFourAxesBroadcastsFromTheRight) {
  Tensor x({3, 2, 1, 2, 4});
  for (std::size_t i = 0; i < x.elements(); ++i) x.f32()[i] = static_cast<float>(i % 7) - 3.0f;
  Tensor hidden = Tensor::zeros({2, 1, 2, 2}, DType::u8);
  for (std::size_t i = 4; i < 8; i += 2) hidden.mutable_view().as<std::uint8_t>()[i] = 1;
  PoolingOptions options;
  options.mask = Mask::ignore(std::move(hidden));
  options.keep = PoolingOptions::Keep::weights;
  const Tensor weights = attention_pooling(x, x, x, options).kept;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t t = 0; t < 2; ++t) {
        const float first = weights.f32()[((a * 2 + b) * 2 + t) * 2];
        EXPECT_EQ(first == 0.0f, b == 1) << a << ", " << b << ", " << t;
      }
    }
  }
}

// As torch's enable_gqa: the axis before the positions is that of the heads, whether or not there is a batch.
TEST(AttentionPooling, GroupedHeadsNeedNoBatch) {
  Random random(6);
  const Tensor q = random.tensor({4, 3, 5}), k = random.tensor({2, 6, 5}),
               v = random.tensor({2, 6, 7});
  const Tensor bias = random.tensor({4, 3, 6}), d = random.tensor({4, 3, 7});
  PoolingOptions options;
  options.groups = PoolingOptions::Groups::grouped;
  options.mask = Mask::additive(bias.clone());
  options.keep = PoolingOptions::Keep::weights;
  const auto batched = [](const Tensor& x) {
    return x.view().reshaped({1, x.dim(0), x.dim(1), x.dim(2)});
  };
  const auto same = [&](const Tensor& found, const Tensor& wanted) {
    EXPECT_EQ(found.shape().rank(), 3u);
    expect_same_bits("values", found, wanted.view().reshaped(found.shape()));
  };
  const Pooled found = attention_pooling(q, k, v, options);
  const Pooled wanted = attention_pooling(batched(q), batched(k), batched(v), options);
  same(found.output, wanted.output);
  same(found.kept, wanted.kept);
  const auto back = attention_pooling_backward(q, k, v, options, d);
  const auto of_batch =
      attention_pooling_backward(batched(q), batched(k), batched(v), options, batched(d));
  same(back.queries, of_batch.queries);
  same(back.keys, of_batch.keys);
  same(back.values, of_batch.values);
}

TEST(AttentionPooling, WithoutFeaturesAllKeysAreEqual) {
  const Tensor nothing({1, 2, 0});
  Tensor values({1, 2, 1});
  values.f32()[0] = 1.0f;
  values.f32()[1] = 3.0f;
  const Tensor output = attention_pooling(nothing, nothing, values, {}).output;
  EXPECT_EQ(Numbers(output).values, (std::vector<double>{2.0, 2.0}));
}

TEST(AttentionPooling, FunctionsOfTheCourse) {
  const Fixture fixture("scoring");
  for (const Case* example : fixture.of_op("softmax")) {
    SCOPED_TRACE(example->name());
    const Tensor& x = example->input("input");
    const auto axis = static_cast<std::ptrdiff_t>(*example->option("dim").integer());
    const double spread = std::min(2.0 * largest(x), 104.0);  // exp underflows below -104
    expect_close("output", softmax(x, axis), example->output("output"),
                 Bound{0x1p-126, gamma(static_cast<double>(x.elements()) + 24.0 + spread)});
  }
  for (const Case* example : fixture.of_op("masked_softmax")) {
    SCOPED_TRACE(example->name());
    const Mask mask = example->has_input("valid_lens")
                          ? Mask::valid_lens(example->int32_input("valid_lens"))
                          : Mask();
    const Tensor& x = example->input("X");
    expect_close(
        "output", masked_softmax(x, mask, EmptyRow::uniform), example->output("output"),
        Bound{0x1p-126, gamma(static_cast<double>(x.shape().back(0)) + 24.0 + 2.0 * largest(x))});
  }
  for (const Case* example : fixture.of_op("bmm")) {
    SCOPED_TRACE(example->name());
    const Tensor &x = example->input("input"), &y = example->input("mat2");
    const auto k = static_cast<double>(x.shape().back(0));
    expect_close("output", bmm(x, y), example->output("output"),
                 Bound{gamma(k) * k * largest(x) * largest(y)});
  }
}

// Sums over some dozen features and keys, as in module_backward_test.cpp.
constexpr Bound kPoolingGradientBound{gamma(400.0), 0.0, 8.0 * gamma(400.0)};

TEST(AttentionPooling, HasTheGradientsOfAutogradWithTheSameBitsForAnyThreads) {
  const Fixture fixture("gradients");
  std::size_t cases = 0;
  for (const Case& example : fixture.cases()) {
    if (example.op() != "attention_pooling") continue;
    SCOPED_TRACE(example.name());
    ++cases;
    PoolingOptions options;
    const Json& json = example.options();
    options.score.name = json.find("score")->string();
    options.softcap = static_cast<float>(json.find("softcap")->number());
    if (json.find("empty_row")->string() == "uniform") options.empty_row = EmptyRow::uniform;
    if (json.find("enable_gqa") != nullptr) options.groups = PoolingOptions::Groups::grouped;
    for (const char* number : {"scale", "sigma"}) {
      if (const Json* value = json.find(number)) {
        options.score.set(number, static_cast<float>(value->number()));
      }
    }
    for (const std::string& name : example.inputs()) {
      if (name == "mask") options.mask = Mask::allow(example.uint8_input(name));
      if (name == "M" || name.starts_with("W_") || name == "w_v") {
        options.score.set(name, example.input(name).clone());
      }
    }
    const auto backward = [&] {
      return attention_pooling_backward(example.input("query"), example.input("key"),
                                        example.input("value"), options, example.input("d_output"));
    };
    const PoolingGradients found = backward();
    expect_close("query", found.queries, example.output("d.query"), kPoolingGradientBound);
    expect_close("key", found.keys, example.output("d.key"), kPoolingGradientBound);
    expect_close("value", found.values, example.output("d.value"), kPoolingGradientBound);
    for (const auto& [name, tensor] : found.parameters) {
      expect_close(name, tensor, example.output("d." + name), kPoolingGradientBound);
    }
    EXPECT_EQ(found.parameters.size() + 4, example.outputs().size());
    set_num_threads(4);
    const PoolingGradients again = backward();
    set_num_threads(1);
    expect_same_bits("query", again.queries, found.queries);
    expect_same_bits("key", again.keys, found.keys);
    expect_same_bits("value", again.values, found.values);
  }
  EXPECT_EQ(cases, 7u);
}

TEST(AttentionPooling, GroupedHeadsNeedAKeyHead) {
  const Tensor none = Tensor::zeros({1, 0, 3, 4}), two = Tensor::zeros({1, 2, 3, 4});
  PoolingOptions options;
  options.groups = PoolingOptions::Groups::grouped;
  for (const Tensor* queries : {&none, &two}) {
    expect_error(ErrorCode::shape_mismatch, {"cannot be divided among 0 key heads"},
                 [&] { attention_pooling(*queries, none, none, options); });
  }
}

TEST(AttentionPooling, RefusesAGradientOfAnotherShape) {
  const Tensor x = Tensor::zeros({2, 3, 4});
  expect_error(ErrorCode::shape_mismatch, {"attention", "[3, 4]", "[2, 3, 4]"},
               [&] { attention_pooling_backward(x, x, x, {}, Tensor::zeros({3, 4})); });
}

TEST(AttentionPooling, ASoftcapIsFiniteAndNotNegative) {
  const Tensor x = Tensor::zeros({1, 2, 3});
  using Limits = std::numeric_limits<float>;
  for (const float softcap : {-1.0f, Limits::quiet_NaN(), Limits::infinity()}) {
    PoolingOptions options;
    options.softcap = softcap;
    expect_error(ErrorCode::invalid_argument, {"softcap must be >= 0"},
                 [&] { attention_pooling(x, x, x, options); });
  }
}

}  // namespace
}  // namespace clearformer::test
