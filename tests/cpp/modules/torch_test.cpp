// The classes of torch.nn against PyTorch: every argument, mask and norm order of the fixtures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "clearformer/modules/module.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/json_text.h"
#include "support/masks.h"

namespace clearformer::test {
namespace {

std::unique_ptr<Module> make_torch(const Case& example,
                                   std::initializer_list<std::string_view> without = {}) {
  const std::string kind = "nn." + example.op();
  return Module::make(kind, ConfigReader(options_text(example, without), kind),
                      example.state_dict());
}

bool flag(const Case& example, const char* name, bool fallback) {
  const Json* value = example.options().find(name);
  return value == nullptr || value->is_null() ? fallback : value->boolean();
}

double size(const Case& example, const char* name, double fallback) {
  const Json* value = example.options().find(name);
  return value == nullptr || value->is_null() ? fallback : value->number();
}

// A path through a block sums over the features (projections in and out, both feed-forward layers)
// and the keys, each sum of n terms with n roundings, and has a dozen more in softmax, norms and
// activations; intermediate values may be eight times as large as the result.
Bound block_bound(const Case& example, double keys, double layers) {
  const double d = size(example, "d_model", size(example, "embed_dim", 0.0));
  const double path = 6.0 * d + size(example, "dim_feedforward", 0.0) + 2.0 * keys + 60.0;
  return {gamma(layers * path), 0.0, 8.0 * gamma(layers * path)};
}

Tensor transposed(const Tensor& x) {
  Tensor y({x.dim(1), x.dim(0), x.dim(2)});
  for (std::size_t i = 0; i < x.dim(0); ++i) {
    for (std::size_t j = 0; j < x.dim(1); ++j) {
      std::copy_n(x.f32() + (i * x.dim(1) + j) * x.dim(2), x.dim(2),
                  y.f32() + (j * x.dim(0) + i) * x.dim(2));
    }
  }
  return y;
}

Tensor average_over_heads(const Tensor& weights) {
  Tensor mean = Tensor::zeros({weights.dim(0), weights.dim(2), weights.dim(3)});
  const std::size_t matrix = weights.dim(2) * weights.dim(3), heads = weights.dim(1);
  for (std::size_t i = 0; i < weights.dim(0) * heads; ++i) {
    for (std::size_t j = 0; j < matrix; ++j) {
      mean.f32()[i / heads * matrix + j] +=
          weights.f32()[i * matrix + j] / static_cast<float>(heads);
    }
  }
  return mean;
}

// A mask (T, S), or (B·H, T, S) per head, and the padding, broadcast to (B, H, T, S).
Mask attention_mask(const Case& example, const std::string& stem, const std::string& padding,
                    const char* causal, std::size_t heads) {
  Mask mask = padding_input(example, padding);
  for (const bool boolean : {true, false}) {
    const std::string name = stem + (boolean ? "_boolean" : "_additive");
    if (!example.has_input(name)) continue;
    Tensor values = boolean ? example.uint8_input(name) : example.input(name).clone();
    const Shape shape = values.shape();
    if (shape.rank() == 3) values.reshape({shape[0] / heads, heads, shape[1], shape[2]});
    mask = mask & (boolean ? Mask::ignore(std::move(values)) : Mask::additive(std::move(values)));
  }
  const bool stored = example.has_input(stem + "_boolean") || example.has_input(stem + "_additive");
  if (causal != nullptr && flag(example, causal, false) && !stored) mask = mask & Mask::causal();
  return mask;
}

TEST(TorchModules, MultiheadAttention) {
  const Fixture fixture("multihead_attention");
  for (const Case* example : fixture.of_op("MultiheadAttention")) {
    SCOPED_TRACE(example->name());
    const auto module =
        make_torch(*example, {"batch_first", "need_weights", "average_attn_weights", "is_causal"});
    const bool batch_first =
        flag(*example, "batch_first", false) || example->input("query").shape().rank() == 2;
    std::map<std::string, Tensor> tensors;
    for (const std::string name : {"query", "key", "value"}) {
      const Tensor& x = example->input(example->has_input(name) ? name : "query");
      tensors.emplace(name, batch_first ? x.clone() : transposed(x));
    }
    Module::Inputs inputs;
    for (const auto& [name, tensor] : tensors) inputs.tensors.emplace(name, tensor.view());
    const auto heads = static_cast<std::size_t>(size(*example, "num_heads", 1));
    inputs.masks.emplace(
        "mask", attention_mask(*example, "attn_mask", "key_padding_mask", "is_causal", heads));
    Trace trace;
    trace.capture("attn.hook_pattern");
    Tensor output = module->forward(inputs, &trace);
    if (!batch_first) output = transposed(output);
    const Bound bound =
        block_bound(*example, static_cast<double>(tensors.at("key").shape().back(1)), 1.0);
    expect_close("output", output, example->output("output"), bound);
    if (!example->has_output("weights")) continue;
    const bool averaged = flag(*example, "average_attn_weights", true);
    const Tensor& pattern = trace.at("attn.hook_pattern");
    Tensor weights = averaged ? average_over_heads(pattern) : pattern.clone();
    if (weights.elements() == example->output("weights").elements())
      weights.reshape(example->output("weights").shape());
    expect_close("weights", weights, example->output("weights"), bound);
  }
}

struct Sequence {
  const char *tensor, *mask, *padding, *causal, *as;
};

void expect_transformer(const Case& example, std::initializer_list<const char*> tensors,
                        std::initializer_list<Sequence> masks, double layers) {
  SCOPED_TRACE(example.op() + " " + example.name());
  const auto module = make_torch(example, {"batch_first", "is_causal", "tgt_is_causal"});
  const bool batch_first = flag(example, "batch_first", false);
  std::map<std::string, Tensor> inputs_owned;
  Module::Inputs inputs;
  double keys = 0.0;
  const auto heads = static_cast<std::size_t>(size(example, "nhead", 1));
  for (const char* name : tensors) {
    const Tensor& x = example.input(name);
    const bool turn = !batch_first && x.shape().rank() == 3;
    inputs_owned.emplace(name, turn ? transposed(x) : x.clone());
    keys += static_cast<double>(inputs_owned.at(name).shape().back(1));
  }
  for (const auto& [name, tensor] : inputs_owned) inputs.tensors.emplace(name, tensor.view());
  for (const Sequence& mask : masks) {
    inputs.masks.emplace(mask.as,
                         attention_mask(example, mask.mask, mask.padding, mask.causal, heads));
  }
  Tensor output = module->forward(inputs, nullptr);
  if (!batch_first && output.shape().rank() == 3) output = transposed(output);
  expect_close("output", output, example.output("output"), block_bound(example, keys, layers));
}

TEST(TorchModules, Transformer) {
  const Fixture fixture("transformer");
  std::size_t seen = 0;
  for (const Case& example : fixture.cases()) {
    ++seen;
    const std::string op = example.op();
    const Sequence src{"src", "src_mask", "src_key_padding_mask", "is_causal", "mask"};
    const Sequence tgt{"tgt", "tgt_mask", "tgt_key_padding_mask", "tgt_is_causal", "tgt_mask"};
    const Sequence memory{"memory", "memory_mask", "memory_key_padding_mask", nullptr,
                          "memory_mask"};
    const double layers = size(example, "num_layers", 1.0);
    if (op == "TransformerEncoderLayer" || op == "TransformerEncoder") {
      expect_transformer(example, {"src"}, {src}, layers);
    } else if (op == "TransformerDecoderLayer" || op == "TransformerDecoder") {
      expect_transformer(example, {"tgt", "memory"}, {tgt, memory}, layers);
    } else {
      Sequence whole = src;
      whole.as = "src_mask";
      whole.causal = "src_is_causal";
      expect_transformer(
          example, {"src", "tgt"}, {whole, tgt, memory},
          size(example, "num_encoder_layers", 6.0) + size(example, "num_decoder_layers", 6.0));
    }
  }
  EXPECT_GT(seen, 100u);
}

TEST(TorchModules, LinearEmbeddingAndNorms) {
  const Fixture fixture("modules");
  const auto compare = [](const std::string& op, const Case& example) {
    SCOPED_TRACE(op + " " + example.name());
    const auto module = make_torch(example);
    Tensor input =
        op == "Embedding" ? example.int32_input("input") : example.input("input").clone();
    input.reshape(example.input("input").shape());
    Module::Inputs inputs;
    inputs.tensors.emplace("input", input.view());
    const double n = size(example, "in_features", 0.0);
    // Linear: n products; a norm: a handful of roundings, its sums are in double.
    const Bound bound = op == "Embedding" ? Bound{}
                        : op == "Linear"  ? Bound{gamma(n + 2.0) * (n + 1.0) * 16.0}
                                          : Bound{gamma(8.0), gamma(16.0)};
    Tensor output = module->forward(inputs, nullptr);
    // The file stores a scalar index with one axis.
    if (output.elements() == example.output("output").elements())
      output.reshape(example.output("output").shape());
    expect_close("output", output, example.output("output"), bound);
  };
  for (const char* op : {"Linear", "Embedding", "LayerNorm", "RMSNorm"}) {
    for (const Case* example : fixture.of_op(op)) compare(op, *example);
  }
}

TEST(TorchModules, StateDictIsStrictAndListsEverything) {
  Weights weights;
  weights.add("weight", "state_dict", Tensor::zeros({3, 5}));
  weights.add("extra", "state_dict", Tensor::zeros({1}));
  const ConfigReader options(R"({"in_features": 4, "out_features": 3})", "nn.Linear");
  try {
    Module::make("nn.Linear", options, std::move(weights));
    FAIL() << "a state_dict with three faults was accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const char* part : {"\"weight\" has shape [3, 5], expected [3, 4]",
                             "\"bias\" of shape [3] is missing", "\"extra\" is unexpected"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
  }
}

TEST(TorchModules, NormsRefuseOtherLastAxes) {
  const auto refused = [](const char* kind, const char* options, const Shape& normalized,
                          std::initializer_list<Shape> shapes) {
    Weights weights;
    weights.add("weight", "state_dict", Tensor::zeros(normalized));
    if (std::string_view(kind) != "nn.RMSNorm") {
      weights.add("bias", "state_dict", Tensor::zeros(normalized));
    }
    const auto norm = Module::make(kind, ConfigReader(options, kind), std::move(weights));
    for (const Shape& shape : shapes) {
      const Tensor x = Tensor::zeros(shape);
      Module::Inputs inputs;
      inputs.tensors.emplace("input", x);
      expect_error(ErrorCode::shape_mismatch,
                   {kind, "the last axes", shape.text(), normalized.text()},
                   [&] { norm->forward(inputs, nullptr); });
    }
  };
  for (const char* kind : {"nn.LayerNorm", "nn.RMSNorm"}) {
    refused(kind, R"({"normalized_shape": [4]})", {4}, {{2, 6}, {12}, {4, 2}, {4, 1}});
    refused(kind, R"({"normalized_shape": [2, 3]})", {2, 3}, {{3, 2}, {6}, {2, 2, 6}});
  }
}

TEST(TorchModules, UnknownKindsAndOptionsAreRefusedByName) {
  const ConfigReader none("{}", "test");
  EXPECT_THROW(Module::make("nn.Nothing", none, Weights()), Error);
  const ConfigReader odd(R"({"in_features": 1, "out_features": 1, "device": "cuda"})", "nn.Linear");
  try {
    Module::make("nn.Linear", odd, Weights());
    FAIL() << "an unknown option was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("device"), std::string::npos) << error.what();
  }
}

// Such as torch's own names of masks, which would mask nothing.
std::unique_ptr<Module> small_attention() {
  Weights weights;
  weights.add("in_proj_weight", "state_dict", Tensor::zeros({12, 4}));
  weights.add("out_proj.weight", "state_dict", Tensor::zeros({4, 4}));
  const ConfigReader options(R"({"embed_dim": 4, "num_heads": 2, "bias": false})", "options");
  return Module::make("nn.MultiheadAttention", options, std::move(weights));
}

TEST(TorchModules, AttentionRefusesKeysAndValuesThatDoNotFit) {
  const auto attention = small_attention();
  const auto refused = [&](const Shape& keys, const Shape& values,
                           const std::vector<std::string>& words) {
    const Tensor query = Tensor::zeros({2, 3, 4}), key = Tensor::zeros(keys),
                 value = Tensor::zeros(values);
    Module::Inputs inputs;
    inputs.tensors = {{"query", query}, {"key", key}, {"value", value}};
    expect_error(ErrorCode::shape_mismatch, words, [&] { attention->forward(inputs, nullptr); });
  };
  refused({1, 3, 4}, {1, 3, 4}, {"keys of shape [1, 3, 4]", "[2, length, 4]"});
  refused({2, 3, 5}, {2, 3, 4}, {"keys of shape [2, 3, 5]"});
  refused({2, 3, 4}, {3, 3, 4}, {"values of shape [3, 3, 4]"});
  refused({2, 3, 4}, {2, 2, 4}, {"3 keys and 2 values"});
}

TEST(TorchModules, UnknownInputsAreRefusedByName) {
  const auto attention = small_attention();
  const Tensor x = Tensor::zeros({1, 3, 4});
  Module::Inputs known;
  for (const char* name : {"query", "key", "value"}) known.tensors.emplace(name, x);
  known.masks.emplace("mask", Mask::causal());
  Trace trace;
  Gradient gradient;
  attention->differentiate(trace, gradient);
  attention->forward(known, &trace);
  const auto expect_refused = [&](const Module::Inputs& inputs, const char* kind,
                                  const char* name) {
    const std::vector<std::string> words{"nn.MultiheadAttention", kind, name,
                                         "query, key, value, mask"};
    expect_error(ErrorCode::unsupported, words, [&] { attention->forward(inputs, nullptr); });
    expect_error(ErrorCode::unsupported, words, [&] { attention->backward(inputs, x, trace); });
  };
  for (const char* name : {"attn_mask", "key_padding_mask", "query", ""}) {
    Module::Inputs inputs = known;
    inputs.masks.emplace(name, Mask::causal());
    expect_refused(inputs, "takes no mask", name);
  }
  for (const char* name : {"mask", "input", "key, value"}) {
    Module::Inputs inputs = known;
    inputs.tensors.emplace(name, x);
    expect_refused(inputs, "takes no tensor", name);
  }
}

}  // namespace
}  // namespace clearformer::test
