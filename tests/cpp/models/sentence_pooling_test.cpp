// Sentence pooling against the library it is named after: folders of tests/fixtures/models, and the
// formulas written out by hand.
#include "clearformer/models/sentence_pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/loading/load_model.h"
#include "clearformer/models/model.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

const std::string kGroup = "models/sentence_transformers";

SentencePooling::ReadFile files_of(const std::string& folder) {
  return [folder](const std::string& name) -> std::optional<std::string> {
    const std::string path = folder + "/" + name;
    if (!file_exists(path)) return std::nullopt;
    return read_bytes(path);
  };
}

// modules.json with the usual steps; `pooling` is 1_Pooling/config.json.
SentencePooling::ReadFile layout(const std::string& pooling, const std::string& more = "") {
  return [pooling, more](const std::string& name) -> std::optional<std::string> {
    if (name == "1_Pooling/config.json") return pooling;
    if (name != "modules.json") return std::nullopt;
    return R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
               {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})" +
           more + "]";
  };
}

TEST(SentencePooling, EmbeddingsEqualTheReference) {
  const Fixture fixture(kGroup);
  const auto cases = fixture.of_op("sentence_embedding");
  ASSERT_EQ(cases.size(), 4u);
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
    const SentencePooling pooling = SentencePooling::read(files_of(folder));
    expect_close("embedding", pooling.embed(outputs.at("last_hidden_state"), mask.view()),
                 reference->output("sentence_embedding"), kModelBound);
    EXPECT_EQ(pooling.max_seq_length, 24u);
  }
}

// (1, 3, 2); the last token is padding.
struct Example {
  Example() : x({1, 3, 2}), mask({1, 3}, DType::u8) {
    const float values[] = {1, 2, 3, -4, 50, 60};
    std::copy_n(values, 6, x.f32());
    const std::uint8_t flags[] = {1, 1, 0};
    std::copy_n(flags, 3, mask.mutable_view().as<std::uint8_t>());
  }
  std::vector<float> pooled(SentencePooling::Mode mode) const {
    SentencePooling pooling;
    pooling.modes = {mode};
    pooling.norm = SentencePooling::Norm::none;
    const Tensor made = pooling.embed(x, mask.view());
    return {made.f32(), made.f32() + made.elements()};
  }
  Tensor x, mask;
};

TEST(SentencePooling, EachModeIsItsFormula) {
  using Mode = SentencePooling::Mode;
  const Example example;
  EXPECT_EQ(example.pooled(Mode::cls), (std::vector<float>{1, 2}));
  EXPECT_EQ(example.pooled(Mode::max), (std::vector<float>{3, 2}));
  EXPECT_EQ(example.pooled(Mode::mean), (std::vector<float>{2, -1}));
  const float root = std::sqrt(2.0f);
  expect_close("mean_sqrt_len", example.pooled(Mode::mean_sqrt_len),
               std::vector<float>{4 / root, -2 / root}, Bound{0.0, 4 * kRoundoff, 0.0});
  expect_close("weighted_mean", example.pooled(Mode::weighted_mean),
               std::vector<float>{7.0f / 3, -2}, Bound{0.0, 4 * kRoundoff, 0.0});
  EXPECT_EQ(example.pooled(Mode::last_token), (std::vector<float>{3, -4}));
}

TEST(SentencePooling, WithoutModulesItIsMeanAndUnitLength) {
  const SentencePooling pooling =
      SentencePooling::read([](const std::string&) { return std::nullopt; });
  const Example example;
  const double length = std::sqrt(5.0);
  Numbers expected(std::vector<double>{2 / length, -1 / length});
  expected.shape = {1, 2};
  expect_close("mean", pooling.embed(example.x, example.mask.view()), expected,
               Bound{0.0, 4 * kRoundoff, 0.0});
}

TEST(SentencePooling, NewerFilesNameTheirModes) {
  const SentencePooling pooling = SentencePooling::read(
      layout(R"({"pooling_mode": ["lasttoken", "max"], "embedding_dimension": 2})"));
  const Example example;
  const Tensor made = pooling.embed(example.x, example.mask.view());
  EXPECT_EQ((std::vector<float>{made.f32(), made.f32() + 4}), (std::vector<float>{3, 2, 3, -4}));
}

TEST(SentencePooling, WhatItLacksIsRefusedByName) {
  expect_error(ErrorCode::unsupported, {"modules.json", "models.Dense"}, [] {
    SentencePooling::read(layout(R"({"pooling_mode_cls_token": true})",
                                 R"(, {"path": "2_Dense", "type": "models.Dense"})"));
  });
  expect_error(ErrorCode::unsupported, {"1_Pooling/config.json", "pooling_mode_median"},
               [] { SentencePooling::read(layout(R"({"pooling_mode_median": true})")); });
  expect_error(ErrorCode::malformed_config, {"names no pooling"},
               [] { SentencePooling::read(layout(R"({"pooling_mode_cls_token": false})")); });
  expect_error(ErrorCode::malformed_config, {"2_Pooling/config.json"}, [] {
    SentencePooling::read(layout(R"({"pooling_mode_cls_token": true})",
                                 R"(, {"path": "2_Pooling", "type": "models.Pooling"})"));
  });
  const Example example;
  expect_error(ErrorCode::shape_mismatch, {"[1, 2]", "[1, 3, 2]"}, [&] {
    const Tensor mask({1, 2}, DType::u8);
    SentencePooling().embed(example.x, mask.view());
  });
}

}  // namespace
}  // namespace clearformer::test
