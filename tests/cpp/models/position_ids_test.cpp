// position_ids that the caller gives: which restart, one row for all sequences, and the limit of positions, which is not that
// of tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/architectures.h"
#include "support/expect_error.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

std::unique_ptr<Model> with_a_table() { return load_folder(fixture_path("models/gpt2/even")); }

Tensor int32s(const Shape& shape, const std::vector<std::int32_t>& values) {
  Tensor tensor(shape, DType::i32);
  std::copy(values.begin(), values.end(), tensor.mutable_view().as<std::int32_t>());
  return tensor;
}

Tensor logits_at(Model& model, const Tensor& ids, const Tensor& positions) {
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  inputs.position_ids = positions.view();
  return logits_of(model, inputs);
}

void refuse_at(Model& model, const Tensor& ids, const Tensor& positions, const std::string& text) {
  expect_error(ErrorCode::invalid_argument, {"forward", "position_ids", text},
               [&] { logits_at(model, ids, positions); });
}

// As in transformers' passes with a cache, its default: what belongs together is told by masks alone.
TEST(PositionIds, ThatRestartHideNothing) {
  const auto model = with_a_table();
  const Tensor ids = random_ids(2, 1, 4, 64), positions = int32s({1, 4}, {0, 1, 0, 1});
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  inputs.position_ids = positions.view();
  const Tensor logits = logits_of(*model, inputs);
  KeyValueCache cache = model->make_cache();
  inputs.cache = &cache;
  expect_same_bits("with a cache", logits_of(*model, inputs), logits);
  const Tensor second = forward(*model, columns(ids, 0, 2, 2));
  const TensorView half(logits.f32() + 2 * logits.dim(2), DType::f32, second.shape());
  EXPECT_NE(std::memcmp(half.f32(), second.f32(), half.bytes()), 0);
}

TEST(PositionIds, OfOneRowAreThoseOfAllSequences) {
  const auto model = with_a_table();
  const Tensor ids = random_ids(4, 2, 3, 64);
  expect_same_bits("logits", logits_at(*model, ids, int32s({1, 3}, {4, 5, 6})),
                   logits_at(*model, ids, int32s({2, 3}, {4, 5, 6, 4, 5, 6})));
  expect_error(ErrorCode::shape_mismatch, {"position_ids", "[3, 3]", "[2, 3]"},
               [&] { logits_at(*model, ids, int32s({3, 3}, {4, 5, 6, 4, 5, 6, 4, 5, 6})); });
}

// GPT-2 has a table of 40 rows, GPT-J sines up to 40 positions.
TEST(PositionIds, AndNotTokensEndWhereTheTableEnds) {
  for (const char* name : {"gpt2", "gptj"}) {
    SCOPED_TRACE(name);
    const auto model = load_folder(fixture_path(concat("models/", name, "/even")));
    const Tensor few = random_ids(5, 1, 2, 64), many = random_ids(6, 1, 44, 64);
    std::vector<std::int32_t> twice(44);
    for (std::size_t t = 0; t < 44; ++t) twice[t] = static_cast<std::int32_t>(t % 22);
    const Tensor logits = logits_at(*model, many, int32s({1, 44}, twice));
    expect_same_bits("first half", TensorView(logits.f32(), DType::f32, {1, 22, 64}),
                     forward(*model, columns(many, 0, 0, 22)));
    logits_at(*model, few, int32s({1, 2}, {38, 39}));
    refuse_at(*model, few, int32s({1, 2}, {39, 40}), "40");
    constexpr std::int32_t kLargest = std::numeric_limits<std::int32_t>::max();
    refuse_at(*model, few, int32s({1, 2}, {kLargest, 0}), "2147483647");
    expect_error(ErrorCode::invalid_argument, {"44 new tokens", "40 positions"},
                 [&] { forward(*model, many); });
  }
}

// OPT counts the tokens that are no padding; padding has the position before the first, as in transformers.
TEST(PositionIds, OfOptCountWhatIsNotMasked) {
  const auto model = load_folder(fixture_path("models/opt/even"));
  Tensor ids = random_ids(8, 1, 4, 64), mask = Tensor::zeros({1, 4}, DType::u8);
  for (const std::size_t t : {1u, 3u}) mask.mutable_view().as<std::uint8_t>()[t] = 1;
  ModelInputs inputs = inputs_of(ids);
  inputs.attention_mask = mask.view();
  Trace trace;
  trace.capture("hook_pos_embed");
  model->forward(inputs, &trace);
  const Tensor table = Parameters::read(model->parameter("model.decoder.embed_positions.weight"));
  const std::size_t width = table.dim(1), rows[] = {1, 2, 1, 3};  // the first two are no positions
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(std::memcmp(trace.at("hook_pos_embed").f32() + t * width,
                          table.f32() + rows[t] * width, width * sizeof(float)),
              0)
        << t;
  }
}

// RoBERTa's positions begin behind that of padding.
TEST(PositionIds, OfRobertaReachTheEndOfItsTable) {
  const auto model = load_folder(fixture_path("models/roberta/even_base"));
  const TextEmbeddingConfig& text = *model->config().tower.text;
  const auto rows = static_cast<std::int32_t>(text.position_rows);
  const Tensor ids = random_ids(7, 1, 1, 64);
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  const Tensor last = int32s({1, 1}, {rows - 1}), beyond = int32s({1, 1}, {rows});
  inputs.position_ids = last.view();
  model->forward(inputs);
  inputs.position_ids = beyond.view();
  expect_error(ErrorCode::invalid_argument, {"position_ids", std::to_string(rows)},
               [&] { model->forward(inputs); });
}

}  // namespace
}  // namespace clearformer::test
