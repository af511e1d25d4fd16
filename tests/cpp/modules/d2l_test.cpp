// The classes of d2l.ai against the references, and the identities of the course.

#include <gtest/gtest.h>

#include <algorithm>

#include "clearformer/modules/module.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/json_text.h"
#include "support/masks.h"

namespace clearformer::test {
namespace {

// As for torch's blocks: sums over a few hundred features and keys at most, with intermediate values
// up to eight times the result.
constexpr Bound kBlockBound{gamma(400.0), 0.0, 8.0 * gamma(400.0)};

Mask lengths(const Case& example, const char* name) {
  return example.has_input(name) ? Mask::valid_lens(example.int32_input(name)) : Mask();
}

std::unique_ptr<Module> make_d2l(const Case& example) {
  const std::string kind = "d2l." + example.op();
  const ConfigReader options(
      options_text(example, {"mode", "query_size", "key_size", "value_size"}), kind);
  return Module::make(kind, options, example.state_dict());
}

void expect_module(const Case& example, std::initializer_list<const char*> tensors,
                   const Module::Inputs& masks) {
  SCOPED_TRACE(example.op() + " " + example.name());
  const auto module = make_d2l(example);
  Module::Inputs inputs = masks;
  for (const char* name : tensors) inputs.tensors.emplace(name, example.input(name).view());
  Trace trace;
  trace.capture("*hook_pattern");
  expect_close("output", module->forward(inputs, &trace), example.output("output"), kBlockBound);
  const std::pair<const char*, std::string_view> weights[] = {
      {"attention_weights", ""},
      {"self_weights", "attn.hook_pattern"},
      {"cross_weights", "cross_attn.hook_pattern"}};
  for (const auto& [output, hook] : weights) {
    if (!example.has_output(output)) continue;
    const Tensor& pattern = hook.empty() ? trace.captured().front().value : trace.at(hook);
    expect_close(output, pattern, example.output(output), kBlockBound);
  }
}

TEST(D2lModules, EqualTheReferences) {
  const Fixture fixture("d2l");
  for (const Case& example : fixture.cases()) {
    const std::string op = example.op();
    Module::Inputs masks;
    if (op == "AdditiveAttention" || op == "MultiHeadAttention") {
      masks.masks.emplace("mask", lengths(example, "valid_lens"));
      expect_module(example, {"queries", "keys", "values"}, masks);
    } else if (op == "TransformerEncoderBlock" || op == "ViTBlock") {
      masks.masks.emplace("mask", lengths(example, "valid_lens"));
      expect_module(example, {"X"}, masks);
    } else if (op == "TransformerDecoderBlock") {
      // Step by step equals masked at once; only d2l's eval mode at once has no mask.
      const bool causal = example.option("mode").string() != "eval_at_once";
      masks.masks.emplace("mask", causal ? Mask::causal() : Mask());
      masks.masks.emplace("enc_mask", lengths(example, "enc_valid_lens"));
      expect_module(example, {"X", "enc_outputs"}, masks);
    } else if (op == "AddNorm") {
      expect_module(example, {"X", "Y"}, masks);
    } else if (op == "PositionWiseFFN" || op == "PositionalEncoding" || op == "PatchEmbedding") {
      expect_module(example, {"X"}, masks);
    }
  }
}

// Without positions a permuted sequence gives the permuted output.
TEST(D2lModules, EncoderIsEquivariantWithoutPositions) {
  const Fixture fixture("d2l");
  const Case& example = fixture.at("encoder_block_all");
  const auto module = make_d2l(example);
  const Tensor& x = example.input("X");
  const std::size_t length = x.dim(1), width = x.dim(2);
  const auto reversed = [&](const Tensor& from) {
    Tensor to(from.shape());
    for (std::size_t row = 0; row < from.dim(0) * length; ++row) {
      const std::size_t mirrored = row / length * length + length - 1 - row % length;
      std::copy_n(from.f32() + mirrored * width, width, to.f32() + row * width);
    }
    return to;
  };
  const Tensor turned = reversed(x);
  Module::Inputs straight, permuted;
  straight.tensors.emplace("X", x.view());
  permuted.tensors.emplace("X", turned.view());
  const Tensor expected = reversed(module->forward(straight, nullptr));
  expect_close("permuted", module->forward(permuted, nullptr), expected, kBlockBound);

  // With positions it is not: adding them to both orders gives different rows.
  Tensor with(x.shape()), turned_with(x.shape());
  for (std::size_t i = 0; i < x.elements(); ++i) {
    const float position = 0.1f * static_cast<float>(i / width % length);
    with.f32()[i] = x.f32()[i] + position * static_cast<float>(i % width);
    turned_with.f32()[i] = turned.f32()[i] + position * static_cast<float>(i % width);
  }
  straight.tensors["X"] = with.view();
  permuted.tensors["X"] = turned_with.view();
  const Tensor mirrored = reversed(module->forward(straight, nullptr));
  const Tensor other = module->forward(permuted, nullptr);
  float largest = 0.0f;
  for (std::size_t i = 0; i < other.elements(); ++i) {
    largest = std::max(largest, std::abs(other.f32()[i] - mirrored.f32()[i]));
  }
  EXPECT_GT(largest, 0.01f);
}

// Head h of the combined projection is a separate head with rows h·d … of W_q, W_k, W_v: h separate
// projections, concatenated, equal the combined one.
TEST(D2lModules, SeparateHeadsConcatenatedEqualTheCombinedProjection) {
  const Fixture fixture("d2l");
  const Case& example = fixture.at("multi_head_all");
  const std::size_t model = 30, heads = 3, d = model / heads;
  const auto combined = make_d2l(example);
  Module::Inputs inputs;
  for (const char* name : {"queries", "keys", "values"})
    inputs.tensors.emplace(name, example.input(name).view());
  Trace whole;
  whole.capture("attn.hook_z");
  combined->forward(inputs, &whole);
  const Tensor& z = whole.at("attn.hook_z");  // (B, T, H, d)
  for (std::size_t head = 0; head < heads; ++head) {
    Weights all = example.state_dict(), one;
    for (const char* name : {"W_q.weight", "W_k.weight", "W_v.weight"}) {
      const Tensor matrix = all.take({name}, {model, model});
      Tensor rows({d, model});
      std::copy_n(matrix.f32() + head * d * model, d * model, rows.f32());
      one.add(name, "head", std::move(rows));
    }
    one.add("W_o.weight", "head", Tensor::zeros({d, d}));
    const ConfigReader options(R"({"num_hiddens": 10, "num_heads": 1})", "d2l.MultiHeadAttention");
    Trace alone;
    alone.capture("attn.hook_z");
    Module::make("d2l.MultiHeadAttention", options, std::move(one))->forward(inputs, &alone);
    const Tensor& single = alone.at("attn.hook_z");
    for (std::size_t row = 0; row < z.dim(0) * z.dim(1); ++row) {
      for (std::size_t i = 0; i < d; ++i) {
        ASSERT_EQ(z.f32()[(row * heads + head) * d + i], single.f32()[row * d + i])
            << "head " << head;
      }
    }
  }
}

}  // namespace
}  // namespace clearformer::test
