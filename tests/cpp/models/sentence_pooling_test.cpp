// Sentence pooling against sentence-transformers: folders of tests/fixtures/models, and the
// formulas computed by hand.
#include "clearformer/models/sentence_pooling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "clearformer/loading/load_model.h"
#include "clearformer/models/model.h"
#include "clearformer/modules/module.h"
#include "clearformer/weights/checkpoint_reader.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

const std::string kGroup = "models/sentence_transformers";

// The modes whose flags are set, in the order in which upstream concatenates them.
std::vector<PoolingMode> modes_of(const Json& config) {
  constexpr std::pair<const char*, PoolingMode> kFlags[] = {
      {"pooling_mode_cls_token", PoolingMode::cls},
      {"pooling_mode_max_tokens", PoolingMode::max},
      {"pooling_mode_mean_tokens", PoolingMode::mean},
      {"pooling_mode_mean_sqrt_len_tokens", PoolingMode::mean_sqrt_len},
      {"pooling_mode_weightedmean_tokens", PoolingMode::weighted_mean},
      {"pooling_mode_lasttoken", PoolingMode::last_token},
  };
  std::vector<PoolingMode> modes;
  for (const auto& [flag, mode] : kFlags) {
    const Json* set = config.find(flag);
    if (set != nullptr && set->boolean()) modes.push_back(mode);
  }
  return modes;
}

std::unique_ptr<Module> dense_in(const std::string& folder) {
  CheckpointReader reader;
  reader.read_file(folder + "/model.safetensors", "model.safetensors");
  const ConfigReader options(read_bytes(folder + "/config.json"), "config.json");
  return Module::make("sentence_transformers.Dense", options, reader.finish());
}

Tensor dense_after(const Tensor& x, const std::string& folder) {
  const auto module = dense_in(folder);
  Module::Inputs inputs;
  inputs.tensors.emplace("input", x.view());
  return module->forward(inputs, nullptr);
}

TEST(SentencePooling, EmbeddingsEqualTheReference) {
  const Fixture fixture(kGroup);
  const auto cases = fixture.of_op("sentence_embedding");
  ASSERT_EQ(cases.size(), 5u);
  for (const Case* reference : cases) {
    SCOPED_TRACE(reference->name());
    const std::string folder =
        fixture_path(kGroup + "/" + reference->option("checkpoint").string());
    const std::unique_ptr<Model> model = from_pretrained(folder, Task::base);
    const Tensor ids = reference->int32_input("input_ids");
    const Tensor mask = reference->uint8_input("attention_mask");
    ModelInputs inputs;
    inputs.input_ids = ids.view();
    inputs.attention_mask = mask.view();
    ModelOutputs outputs = model->forward(inputs);
    const Json modes = Json::parse(read_bytes(folder + "/1_Pooling/config.json"), "config.json",
                                   ErrorCode::malformed_config);
    Tensor embedding =
        sentence_pooling(outputs.at("last_hidden_state"), mask.view(), modes_of(modes));
    for (const char* path : {"/2_Dense", "/3_Dense"}) {
      if (file_exists(folder + path + "/config.json"))
        embedding = dense_after(embedding, folder + path);
    }
    const bool unit = read_bytes(folder + "/modules.json").find("Normalize") != std::string::npos;
    expect_close("embedding", unit ? unit_vectors(embedding) : embedding.clone(),
                 reference->output("sentence_embedding"), kModelBound);
  }
}

std::vector<PoolingMode> modes_in(const Case& reference) {
  std::vector<PoolingMode> modes;
  for (const Json& mode : reference.option("pooling").array()) {
    modes.push_back(*pooling_mode_named(mode.string()));
  }
  return modes;
}

// The gradient of a reference's metric with respect to embeddings, and its value.
double metric_gradient(const Case& reference, const Tensor& embeddings, Tensor& d) {
  const std::string kind = reference.option("metric").string();
  const Tensor& vector = reference.input("vector");
  const Tensor unit = unit_vectors(vector);
  d = Tensor(embeddings.shape());
  double value = 0.0;
  for (std::size_t i = 0; i < d.elements(); ++i) {
    const double x = embeddings.f32()[i];
    double slope = kind == "weights" ? vector.f32()[i] : x * x;
    if (kind == "cosine_similarity") slope = unit.f32()[i % unit.elements()];
    value += kind == "score" ? x * x * x / 3.0 : slope * x;
    d.f32()[i] = static_cast<float>(slope);
  }
  return value;
}

// The mirror of dense_after().
Tensor dense_back(const Tensor& x, const Tensor& d, const std::string& folder) {
  const auto module = dense_in(folder);
  Module::Inputs inputs;
  inputs.tensors.emplace("input", x.view());
  Trace trace;
  Gradient gradient;
  module->differentiate(trace, gradient);
  module->forward(inputs, &trace);
  return std::move(module->backward(inputs, d.view(), trace).at("input"));
}

// The gradients of a metric of embeddings equal autograd's through transformers and sentence-transformers' formulas.
TEST(SentencePooling, GradientsEqualAutograd) {
  const Fixture fixture("gradients_embeddings");
  ASSERT_GE(fixture.cases().size(), 19u);
  for (const Case& reference : fixture.cases()) {
    SCOPED_TRACE(reference.name());
    const std::string folder = fixture_path(kGroup + "/" + reference.option("checkpoint").string());
    const std::unique_ptr<Model> model = from_pretrained(folder, Task::base);
    const Tensor ids = reference.int32_input("input_ids");
    const Tensor mask = reference.uint8_input("attention_mask");
    ModelInputs inputs;
    inputs.input_ids = ids.view();
    inputs.attention_mask = mask.view();
    ModelOutputs outputs = model->forward(inputs);
    const Tensor& hidden = outputs.at("last_hidden_state");
    const std::vector<PoolingMode> modes = modes_in(reference);
    std::vector<Tensor> before;  // of each dense layer
    Tensor embedding = sentence_pooling(hidden, mask.view(), modes);
    std::vector<std::string> layers;
    for (const char* path : {"/2_Dense", "/3_Dense"}) {
      if (!file_exists(folder + path + "/config.json")) continue;
      layers.push_back(folder + path);
      before.push_back(embedding.clone());
      embedding = dense_after(embedding, layers.back());
    }
    const bool unit = reference.option("normalize").boolean() ||
                      reference.option("metric").string() == "cosine_similarity";
    Tensor d;
    const double value =
        metric_gradient(reference, unit ? unit_vectors(embedding) : embedding.clone(), d);
    EXPECT_NEAR(value, reference.member("value").number(), gamma(200) * std::max(1.0, value));
    if (unit) d = unit_vectors_backward(embedding, d);
    for (std::size_t i = layers.size(); i-- > 0;) d = dense_back(before[i], d, layers[i]);
    Gradient gradient;
    gradient.add_output(
        {"last_hidden_state", sentence_pooling_backward(hidden, mask.view(), modes, d)});
    gradient.want("inputs_embeds");
    for (const std::string& name : reference.outputs()) {
      if (name != "inputs_embeds") gradient.want_weights(name);
    }
    Trace trace;
    model->gradient(inputs, trace, gradient);
    for (const std::string& name : reference.outputs()) {
      expect_close(
          name,
          name == "inputs_embeds" ? gradient.at(name).clone()
                                  : model->weight_gradient(gradient, name),
          reference.output(name),
          Bound{8.0 * reference.member("float32_error").find(name)->number(), 0.0, gamma(200)});
    }
  }
}

// (1, 4, 2), where `flags` mark the tokens that are not padding.
std::vector<float> pooled(std::vector<PoolingMode> modes, std::vector<std::uint8_t> flags) {
  constexpr float kValues[] = {1, 2, 3, -4, 5, 7, 50, 60};
  const TensorView x(kValues, DType::f32, {1, 4, 2});
  const TensorView mask(flags.data(), DType::u8, {1, 4});
  const Tensor made =
      sentence_pooling(x, flags.empty() ? std::nullopt : std::optional(mask), modes);
  EXPECT_EQ(made.shape(), (Shape{1, 2 * modes.size()}));
  return {made.f32(), made.f32() + made.elements()};
}

using List = std::vector<float>;

TEST(SentencePooling, EachModeIsItsFormula) {
  const std::vector<std::uint8_t> right{1, 1, 0, 0};
  EXPECT_EQ(pooled({PoolingMode::cls}, right), (List{1, 2}));
  EXPECT_EQ(pooled({PoolingMode::max}, right), (List{3, 2}));
  EXPECT_EQ(pooled({PoolingMode::mean}, right), (List{2, -1}));
  const float root = std::sqrt(2.0f);
  expect_close("mean_sqrt_len", pooled({PoolingMode::mean_sqrt_len}, right),
               List{4 / root, -2 / root}, Bound{0.0, 4 * kRoundoff, 0.0});
  expect_close("weighted_mean", pooled({PoolingMode::weighted_mean}, right), List{7.0f / 3, -2},
               Bound{0.0, 4 * kRoundoff, 0.0});
  EXPECT_EQ(pooled({PoolingMode::last_token}, right), (List{3, -4}));
}

// Left padding: weights count positions including padding; cls is the first token (Pooling of sentence-transformers 6).
TEST(SentencePooling, PaddingMayBeInFront) {
  const std::vector<std::uint8_t> left{0, 0, 1, 1};
  EXPECT_EQ(pooled({PoolingMode::cls}, left), (List{5, 7}));
  EXPECT_EQ(pooled({PoolingMode::max}, left), (List{50, 60}));
  EXPECT_EQ(pooled({PoolingMode::mean}, left), (List{27.5, 33.5}));
  expect_close("weighted_mean", pooled({PoolingMode::weighted_mean}, left),
               List{215.0f / 7, 261.0f / 7}, Bound{0.0, 4 * kRoundoff, 0.0});
  EXPECT_EQ(pooled({PoolingMode::last_token}, left), (List{50, 60}));
  EXPECT_EQ(pooled({PoolingMode::last_token}, {0, 1, 1, 0}), (List{5, 7}));
}

TEST(SentencePooling, WithoutAMaskAllCount) {
  EXPECT_EQ(pooled({PoolingMode::last_token}, {}), (List{50, 60}));
  EXPECT_EQ(pooled({PoolingMode::mean}, {}), (List{14.75, 16.25}));
}

TEST(SentencePooling, ATextWithoutTokensIsZeroInEveryMean) {
  for (const PoolingMode mode :
       {PoolingMode::mean, PoolingMode::mean_sqrt_len, PoolingMode::weighted_mean}) {
    EXPECT_EQ(pooled({mode}, {0, 0, 0, 0}), (List{0, 0}));
  }
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(pooled({PoolingMode::cls, PoolingMode::max}, {0, 0, 0, 0}), (List{1, 2, kNone, kNone}));
}

TEST(SentencePooling, VectorsOfSeveralModesAreJoined) {
  EXPECT_EQ(pooled({PoolingMode::max, PoolingMode::last_token}, {1, 1, 0, 0}), (List{3, 2, 3, -4}));
}

TEST(SentencePooling, NamesAreUpstreams) {
  EXPECT_EQ(pooling_mode_named("mean_sqrt_len_tokens"), PoolingMode::mean_sqrt_len);
  EXPECT_EQ(pooling_mode_named("weightedmean"), PoolingMode::weighted_mean);
  EXPECT_EQ(pooling_mode_named("last_token"), PoolingMode::last_token);
  EXPECT_EQ(pooling_mode_named("median"), std::nullopt);
}

TEST(SentencePooling, UnitVectorsHaveLengthOneAndZerosStay) {
  constexpr float kValues[] = {3, 4, 0, 0, 0, -2};
  const Tensor made = unit_vectors(TensorView(kValues, DType::f32, {1, 3, 2}));
  EXPECT_EQ((List{made.f32(), made.f32() + 6}), (List{0.6f, 0.8f, 0, 0, 0, -1}));
}

TEST(SentencePooling, WhatDoesNotFitIsRefused) {
  const Tensor x({1, 3, 2}), mask({1, 2}, DType::u8);
  const PoolingMode modes[] = {PoolingMode::mean};
  expect_error(ErrorCode::shape_mismatch, {"[1, 2]", "[1, 3, 2]"},
               [&] { sentence_pooling(x, mask.view(), modes); });
  expect_error(ErrorCode::shape_mismatch, {"[1, 2]"},
               [&] { sentence_pooling(mask, std::nullopt, modes); });
  expect_error(ErrorCode::shape_mismatch, {"[1, 0, 2]", "at least one token"},
               [&] { sentence_pooling(Tensor({1, 0, 2}), std::nullopt, modes); });
  expect_error(ErrorCode::invalid_argument, {"no mode"},
               [&] { sentence_pooling(x, std::nullopt, {}); });
}

TEST(SentencePooling, NamesGradientsThatDoNotFit) {
  const Tensor x = Tensor::zeros({1, 2, 3}), d = Tensor::zeros({1, 4});
  const PoolingMode mode = PoolingMode::mean;
  expect_error(ErrorCode::shape_mismatch, {"gradient of shape [1, 4] of an output of shape [1, 3]"},
               [&] { sentence_pooling_backward(x, std::nullopt, {&mode, 1}, d); });
  expect_error(ErrorCode::shape_mismatch,
               {"gradient of shape [1, 4] of an output of shape [1, 2, 3]"},
               [&] { unit_vectors_backward(x, d); });
}

// A text without tokens, and one whose numbers are all -infinity, which none exceeds.
TEST(SentencePooling, ConstantsHaveNoGradient) {
  const Tensor mask = Tensor::zeros({1, 2}, DType::u8);
  Tensor x({1, 2, 1}), d({1, 1});
  x.f32()[0] = x.f32()[1] = -2e9f;
  d.f32()[0] = 1.0f;
  for (const PoolingMode mode : {PoolingMode::max, PoolingMode::last_token, PoolingMode::mean}) {
    const Tensor dx = sentence_pooling_backward(x, mask.view(), {&mode, 1}, d);
    EXPECT_EQ(dx.f32()[0], 0.0f);
    EXPECT_EQ(dx.f32()[1], 0.0f);
  }
  const PoolingMode most = PoolingMode::max;
  x.f32()[0] = x.f32()[1] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(sentence_pooling_backward(x, std::nullopt, {&most, 1}, d).f32()[0], 0.0f);
  for (const float equal : {-2e9f, 3.0f}) {  // of equal ones the first, as torch
    x.f32()[0] = x.f32()[1] = equal;
    const Tensor dx = sentence_pooling_backward(x, std::nullopt, {&most, 1}, d);
    EXPECT_EQ(dx.f32()[0], 1.0f);
    EXPECT_EQ(dx.f32()[1], 0.0f);
  }
}

// torch.nn.functional.normalize divides vectors shorter than its eps by that.
TEST(SentencePooling, VeryShortVectorsAreDividedByAConstant) {
  const float values[] = {3e-13f, -4e-13f}, gradient[] = {2, 1};
  const Tensor dx = unit_vectors_backward(TensorView(values, DType::f32, {1, 2}),
                                          TensorView(gradient, DType::f32, {1, 2}));
  EXPECT_FLOAT_EQ(dx.f32()[0], 2e12f);
  EXPECT_FLOAT_EQ(dx.f32()[1], 1e12f);
}

// As torch.max; the gradient is the first NaN's.
TEST(SentencePooling, ANaNIsTheLargestNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {7, nan, 3, nan};
  const TensorView x(values, DType::f32, {1, 4, 1});
  const PoolingMode most = PoolingMode::max;
  EXPECT_TRUE(std::isnan(sentence_pooling(x, std::nullopt, {&most, 1}).f32()[0]));
  Tensor d = Tensor::zeros({1, 1});
  d.f32()[0] = 1.0f;
  const Tensor dx = sentence_pooling_backward(x, std::nullopt, {&most, 1}, d);
  EXPECT_EQ((List{dx.f32(), dx.f32() + 4}), (List{0, 1, 0, 0}));
}

}  // namespace
}  // namespace clearformer::test
