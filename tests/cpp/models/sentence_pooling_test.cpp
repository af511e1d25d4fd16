// Sentence pooling against sentence-transformers: folders of tests/fixtures/models, and the
// formulas computed by hand.
#include "clearformer/models/sentence_pooling.h"

#include <gtest/gtest.h>

#include <cmath>

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

Tensor dense_after(const Tensor& x, const std::string& folder) {
  CheckpointReader reader;
  reader.read_file(folder + "/model.safetensors", "model.safetensors");
  const ConfigReader options(read_bytes(folder + "/config.json"), "config.json");
  const auto module = Module::make("sentence_transformers.Dense", options, reader.finish());
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

// Left padding: weights count positions including padding; cls is the first position even if it is padding
// (sentence_transformers.models.Pooling).
TEST(SentencePooling, PaddingMayBeInFront) {
  const std::vector<std::uint8_t> left{0, 0, 1, 1};
  EXPECT_EQ(pooled({PoolingMode::cls}, left), (List{1, 2}));
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
  expect_error(ErrorCode::invalid_argument, {"no mode"},
               [&] { sentence_pooling(x, std::nullopt, {}); });
}

}  // namespace
}  // namespace clearformer::test
