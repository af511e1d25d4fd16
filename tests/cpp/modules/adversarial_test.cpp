// Rows that break naive float32: means of 1e4, scales of 1e18, scores of ±1e30, infinities.

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/attention_pooling.h"
#include "clearformer/layers/functional.h"
#include "support/closeness.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

// The required bound for normalized rows with any mean and scale.
constexpr Bound kNormBound{5e-7, 5e-7};

TEST(Adversarial, Norms) {
  const Fixture fixture("adversarial");
  for (const Case* example : fixture.of_op("RMSNorm")) {
    SCOPED_TRACE(example->name());
    const TensorView weight = example->input("weight");
    const auto eps = static_cast<float>(example->option("eps").number());
    expect_close("output", rms_norm(example->input("input"), 1, &weight, eps),
                 example->output("output"), kNormBound);
  }
  for (const Case* example : fixture.of_op("LayerNorm")) {
    SCOPED_TRACE(example->name());
    const Tensor& x = example->input("input");
    const TensorView weight = example->input("weight"), bias = example->input("bias");
    const auto eps = static_cast<float>(example->option("eps").number());
    expect_close("normalized", layer_norm(x, 1, nullptr, nullptr, eps),
                 example->output("normalized"), kNormBound);
    expect_close("output", layer_norm(x, 1, &weight, &bias, eps), example->output("output"),
                 kNormBound);
  }
}

TEST(Adversarial, Softmax) {
  const Fixture fixture("adversarial");
  for (const Case* example : fixture.of_op("softmax")) {
    SCOPED_TRACE(example->name());
    const bool equal = example->name().find("all_equal") != std::string::npos;
    // Equal scores give correctly rounded 1/n; others pass exp, a sum and a product.
    const Bound bound = equal ? Bound{} : Bound{0x1p-126, gamma(32.0)};
    expect_close("output", softmax(example->input("input")), example->output("output"), bound);
  }
  for (const Case* example : fixture.of_op("masked_row")) {
    SCOPED_TRACE(example->name());
    Tensor scores = example->input("input").clone();
    scores.reshape({1, scores.elements() / scores.shape().back(0), scores.shape().back(0)});
    Tensor weights = masked_softmax(scores, Mask());
    weights.reshape(example->output("output").shape());
    expect_close("output", weights, example->output("output"), Bound{});
  }
}

TEST(Adversarial, Attention) {
  const Fixture fixture("adversarial");
  for (const Case* example : fixture.of_op("scaled_dot_product_attention")) {
    SCOPED_TRACE(example->name());
    PoolingOptions options;
    options.keep = PoolingOptions::Keep::weights;
    if (example->has_input("attn_mask_additive")) {
      options.mask = Mask::additive(example->input("attn_mask_additive").clone());
    }
    const Pooled pooled = attention_pooling(example->input("query"), example->input("key"),
                                            example->input("value"), options);
    expect_close("weights", pooled.kept, example->output("weights"), Bound{gamma(32.0)});
    expect_close("output", pooled.output, example->output("output"),
                 Bound{gamma(32.0), 0.0, gamma(32.0)});
  }
}

TEST(Adversarial, Activations) {
  const Fixture fixture("adversarial");
  for (const Case* example : fixture.of_op("activation")) {
    SCOPED_TRACE(example->name());
    const std::string name = example->option("activation").string();
    const Activation kind = name == "gelu"   ? Activation::gelu_erf
                            : name == "silu" ? Activation::silu
                                             : Activation::gelu_tanh;
    std::vector<double> bounds;
    for (const double x : Numbers(example->input("input")).values) {
      bounds.push_back(std::isfinite(x) ? std::abs(x) * gamma(16.0) + 0x1p-126 : 0.0);
    }
    expect_close("output", activation(kind, example->input("input")), example->output("output"),
                 bounds);
  }
}

TEST(Adversarial, LongSumsWithCancellation) {
  const Fixture fixture("adversarial");
  for (const Case* example : fixture.of_op("matmul")) {
    SCOPED_TRACE(example->name());
    const Tensor& x = example->input("input");
    std::vector<double> bounds;
    for (const double sum : Numbers(example->output("sum_of_absolute")).values) {
      bounds.push_back(gamma(static_cast<double>(x.shape().back(0))) * sum);
    }
    expect_close("output", matmul(x, example->input("mat2")), example->output("output"), bounds);
  }
}

}  // namespace
}  // namespace clearformer::test
