// The ONNX operators Attention (opset 23 and 24), LayerNormalization, RMSNormalization, Softmax and
// Gelu, expressed with the public functions; every attribute has a case.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "clearformer/layers/attention_pooling.h"
#include "clearformer/layers/functional.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/masks.h"

namespace clearformer::test {
namespace {

double number(const Case& example, const char* key, double fallback) {
  const Json* value = example.options().find(key);
  return value == nullptr ? fallback : value->number();
}

// (B, T, H·d) -> (B, H, T, d), and back.
Tensor split_heads(const Tensor& x, std::size_t heads) {
  const std::size_t rows = x.dim(1), width = x.dim(2) / heads;
  Tensor y({x.dim(0), heads, rows, width});
  for (std::size_t i = 0; i < x.dim(0) * rows * heads; ++i) {
    const std::size_t b = i / (rows * heads), t = i / heads % rows, h = i % heads;
    std::copy_n(x.f32() + i * width, width, y.f32() + ((b * heads + h) * rows + t) * width);
  }
  return y;
}
Tensor join_heads(const Tensor& x) {
  const std::size_t heads = x.dim(1), rows = x.dim(2), width = x.dim(3);
  Tensor y({x.dim(0), rows, heads * width});
  for (std::size_t i = 0; i < x.dim(0) * rows * heads; ++i) {
    const std::size_t b = i / (rows * heads), t = i / heads % rows, h = i % heads;
    std::copy_n(x.f32() + ((b * heads + h) * rows + t) * width, width, y.f32() + i * width);
  }
  return y;
}

// Past keys before new ones: (B, H, P, d) and (B, H, T, d) -> (B, H, P + T, d).
Tensor with_past(const Tensor& past, const Tensor& now) {
  const std::size_t before = past.dim(2) * past.dim(3), after = now.dim(2) * now.dim(3);
  Tensor all({now.dim(0), now.dim(1), past.dim(2) + now.dim(2), now.dim(3)});
  for (std::size_t i = 0; i < now.dim(0) * now.dim(1); ++i) {
    std::copy_n(past.f32() + i * before, before, all.f32() + i * (before + after));
    std::copy_n(now.f32() + i * after, after, all.f32() + i * (before + after) + before);
  }
  return all;
}

// nonpad_kv_seqlen is the number of keys that are not padding; with is_causal the last query attends to the last
// of them.
Mask nonpad_mask(const Tensor& lengths, std::size_t queries, bool causal) {
  if (!causal) return Mask::valid_lens(lengths.clone());
  Tensor rows({lengths.dim(0), queries}, DType::i32);
  for (std::size_t i = 0; i < rows.elements(); ++i) {
    const std::int32_t length = lengths.view().as<std::int32_t>()[i / queries];
    rows.mutable_view().as<std::int32_t>()[i] =
        length - static_cast<std::int32_t>(queries) + static_cast<std::int32_t>(i % queries) + 1;
  }
  return Mask::valid_lens(std::move(rows));
}

// A mask with fewer columns than keys masks the remaining keys.
template <class T>
Tensor widened(const Tensor& mask, std::size_t keys, T hidden) {
  Shape shape = mask.shape();
  const std::size_t columns = shape.back(0);
  shape[shape.rank() - 1] = keys;
  Tensor wide(shape, mask.dtype());
  for (std::size_t i = 0; i < wide.elements(); ++i) {
    wide.mutable_view().as<T>()[i] =
        i % keys < columns ? mask.view().as<T>()[i / keys * columns + i % keys] : hidden;
  }
  return wide;
}

Mask onnx_mask(const Case& example, std::size_t queries, std::size_t keys, std::size_t past) {
  Mask mask;
  if (example.has_input("attn_mask_boolean")) {
    mask = mask &
           Mask::allow(widened<std::uint8_t>(example.uint8_input("attn_mask_boolean"), keys, 0));
  }
  if (example.has_input("attn_mask")) {
    constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
    mask = mask & Mask::additive(widened<float>(example.input("attn_mask"), keys, kMinusInfinity));
  }
  const bool causal = number(example, "is_causal", 0) != 0;
  if (example.has_input("nonpad_kv_seqlen")) {
    return mask & nonpad_mask(example.int32_input("nonpad_kv_seqlen"), queries, causal);
  }
  return causal ? mask & Mask::causal(past) : mask;
}

TEST(OnnxOperators, Attention) {
  using Keep = PoolingOptions::Keep;
  constexpr Keep kModes[] = {Keep::raw_scores, Keep::softcapped_scores, Keep::masked_scores,
                             Keep::weights};
  const Fixture fixture("onnx_operators");
  for (const Case* example : fixture.of_op("Attention")) {
    SCOPED_TRACE(example->name());
    const bool flat = example->input("Q").shape().rank() == 3;
    const auto heads = static_cast<std::size_t>(number(*example, "q_num_heads", 0));
    const auto groups = static_cast<std::size_t>(number(*example, "kv_num_heads", 0));
    const auto operand = [&](const char* name, std::size_t count) {
      return flat ? split_heads(example->input(name), count) : example->input(name).clone();
    };
    Tensor q = operand("Q", heads), k = operand("K", groups), v = operand("V", groups);
    std::size_t past = 0;
    if (example->has_input("past_key")) {
      past = example->input("past_key").dim(2);
      k = with_past(example->input("past_key"), k);
      v = with_past(example->input("past_value"), v);
    }
    PoolingOptions options;
    if (const Json* scale = example->options().find("scale")) {
      options.score.set("scale", static_cast<float>(scale->number()));
    }
    options.softcap = static_cast<float>(number(*example, "softcap", 0.0));
    options.groups = PoolingOptions::Groups::grouped;
    options.keep = kModes[static_cast<std::size_t>(number(*example, "qk_matmul_output_mode", 0))];
    options.mask = onnx_mask(*example, q.dim(2), k.dim(2), past);
    const Pooled pooled = attention_pooling(q, k, v, options);
    // Scores of a dozen products of numbers of size 1: γ(16)·16 doubles in exp, then an average.
    const Bound bound{4.0 * gamma(64.0), gamma(64.0)};
    expect_close("Y", flat ? join_heads(pooled.output) : pooled.output.clone(),
                 example->output("Y"), bound);
    if (!example->has_output("qk_matmul_output")) continue;
    expect_close("qk_matmul_output", pooled.kept, example->output("qk_matmul_output"), bound);
    expect_same_bits("present_key", k, example->output("present_key"));
    expect_same_bits("present_value", v, example->output("present_value"));
  }
}

std::size_t axes_of(const Case& example, const Tensor& x) {
  const double axis = number(example, "axis", -1.0);
  return static_cast<std::size_t>(axis < 0 ? -axis : static_cast<double>(x.shape().rank()) - axis);
}

TEST(OnnxOperators, Normalizations) {
  const Fixture fixture("onnx_operators");
  for (const Case* example : fixture.of_op("LayerNormalization")) {
    SCOPED_TRACE(example->name());
    const Tensor& x = example->input("X");
    const TensorView scale = example->input("Scale");
    const TensorView bias = example->has_input("B") ? example->input("B").view() : TensorView();
    const Tensor y =
        layer_norm(x, axes_of(*example, x), &scale, example->has_input("B") ? &bias : nullptr,
                   static_cast<float>(number(*example, "epsilon", 1e-5)));
    expect_close("Y", y, example->output("Y"), Bound{8.0 * gamma(8.0), gamma(8.0)});
  }
  for (const Case* example : fixture.of_op("RMSNormalization")) {
    SCOPED_TRACE(example->name());
    const Tensor& x = example->input("X");
    const std::size_t axes = axes_of(*example, x);
    Shape normalized;
    for (std::size_t axis = axes; axis-- > 0;) normalized.append(x.shape().back(axis));
    const Tensor scale = broadcast_to(example->input("scale"), normalized);
    const TensorView scale_view = scale;
    const Tensor y =
        rms_norm(x, axes, &scale_view, static_cast<float>(number(*example, "epsilon", 1e-5)));
    expect_close("Y", y, example->output("Y"), Bound{8.0 * gamma(8.0), gamma(8.0)});
  }
}

TEST(OnnxOperators, SoftmaxAndGelu) {
  const Fixture fixture("onnx_operators");
  for (const Case* example : fixture.of_op("Softmax")) {
    SCOPED_TRACE(example->name());
    const auto axis = static_cast<std::ptrdiff_t>(number(*example, "axis", -1.0));
    expect_close("Y", softmax(example->input("input"), axis), example->output("Y"),
                 Bound{0.0, gamma(48.0)});
  }
  for (const Case* example : fixture.of_op("Gelu")) {
    SCOPED_TRACE(example->name());
    const Json* approximate = example->options().find("approximate");
    const bool tanh = approximate != nullptr && approximate->string() == "tanh";
    const Tensor y =
        activation(tanh ? Activation::gelu_tanh : Activation::gelu_erf, example->input("X"));
    // 1 + erf and 1 + tanh cancel for negative x: an absolute error of |x|·γ(8) remains.
    std::vector<double> bounds;
    for (const double x : Numbers(example->input("X")).values)
      bounds.push_back(std::abs(x) * gamma(16.0) + 0x1p-126);
    expect_close("Y", y, example->output("Y"), bounds);
  }
}

}  // namespace
}  // namespace clearformer::test
