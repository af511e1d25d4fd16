#include <gtest/gtest.h>

#include <cstring>

#include "clearformer/models/model.h"
#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

using Request = ModelInputs;

class DecoderOnly : public ::testing::Test {
 protected:
  // Runs the request and expects an Error that contains all `parts`.
  void refuse(ErrorCode code, const std::vector<std::string>& parts, const Request& request,
              Place place = Place::here()) {
    expect_error(code, parts, [&] { logits_of(model, request); }, place);
  }
  std::unique_ptr<Model> loaded = load_tiny("odd");
  Model& model = *loaded;  // 97 tokens, 64 positions
};

TEST_F(DecoderOnly, KnowsItsSizes) {
  EXPECT_EQ(model.config().model_type, "llama");
  EXPECT_EQ(model.config().n_layers(), 2u);
  EXPECT_EQ(model.config().d_model(), 30u);
  EXPECT_EQ(model.config().d_vocab(), 97u);
  EXPECT_EQ(model.config().n_ctx(), 64u);
  EXPECT_EQ(model.config().tower.stack.block.attention.num_heads, 3u);
  EXPECT_EQ(model.config().tower.stack.block.attention.num_key_value_heads, 1u);
  EXPECT_EQ(model.config().tower.stack.block.attention.d_head, 10u);
  EXPECT_EQ(model.config().eos_token_ids, std::vector<std::int32_t>{2});
  EXPECT_EQ(model.config().bos_token_id, 1);
}

TEST_F(DecoderOnly, TheSameInputGivesTheSameBitsAgain) {
  const Tensor ids = random_ids(1, 2, 20, 97);
  const Tensor first = forward(model, ids);
  forward(model, random_ids(2, 1, 50, 97));  // other sizes in between
  expect_same_bits("logits", forward(model, ids), first);
}

TEST_F(DecoderOnly, LogitsOfSomePositionsHaveTheSameBits) {
  const Tensor ids = random_ids(3, 3, 9, 97);
  Request request;
  request.input_ids = ids;
  const Tensor all = logits_of(model, request);
  request.logits_to_keep = {-1, 2, 2, 0, -9};
  const std::size_t positions[] = {8, 2, 2, 0, 0};
  const Tensor kept = logits_of(model, request);
  ASSERT_EQ(kept.shape(), (Shape{3, 5, 97}));
  for (std::size_t i = 0; i < 15; ++i) {
    const std::size_t from = i / 5 * 9 + positions[i % 5];
    expect_same_bits(concat("row ", i), TensorView(kept.f32() + i * 97, DType::f32, {97}),
                     TensorView(all.f32() + from * 97, DType::f32, {97}));
  }
}

TEST_F(DecoderOnly, PositionsWithoutLogitsAreRefused) {
  const Tensor ids = random_ids(3, 1, 9, 97);
  Request request;
  request.input_ids = ids;
  for (const std::int64_t position : {9, -10}) {
    request.logits_to_keep = {position};
    refuse(ErrorCode::invalid_argument, {"logits_to_keep", concat("position ", position, " of 9")},
           request);
  }
  request.logits_to_keep = {-1};
  request.stop_at_layer = 1;
  refuse(ErrorCode::invalid_argument, {"logits_to_keep", "computes no logits"}, request);
}

// A sequence has the same bits by itself and at any index of any batch.
TEST_F(DecoderOnly, LogitsDoNotDependOnThePlaceInTheBatch) {
  const Tensor ids = random_ids(4, 5, 13, 97);
  const Tensor all = forward(model, ids);
  for (std::size_t row = 0; row < 5; ++row) {
    const Tensor alone = forward(model, columns(ids, row, 0, 13));
    expect_same_bits(concat("row ", row), alone,
                     TensorView(all.f32() + row * 13 * 97, DType::f32, {1, 13, 97}));
  }
}

// Left padding changes the position of no token and, masked, no score: the same numbers, although
// sums run over more terms.
TEST_F(DecoderOnly, LeftPaddingLeavesTheLogitsInBounds) {
  const Tensor ids = random_ids(5, 1, 6, 97);
  const Tensor expected = forward(model, ids);
  for (std::size_t padding = 1; padding <= 40; padding += 13) {
    const std::size_t length = padding + 6;
    Tensor padded = Tensor::zeros({1, length}, DType::i32),
           mask = Tensor::zeros({1, length}, DType::u8);
    Tensor positions = Tensor::zeros({1, length}, DType::i32);
    for (std::size_t t = 0; t < 6; ++t) {
      padded.mutable_view().as<std::int32_t>()[padding + t] = ids.view().as<std::int32_t>()[t];
      mask.mutable_view().as<std::uint8_t>()[padding + t] = 1;
      positions.mutable_view().as<std::int32_t>()[padding + t] = static_cast<std::int32_t>(t);
    }
    const TensorView mask_view = mask, position_view = positions;
    Request request;
    request.input_ids = padded;
    request.attention_mask = mask_view;
    request.position_ids = position_view;
    const Tensor logits = logits_of(model, request);
    expect_close(concat(padding, " padded"),
                 TensorView(logits.f32() + padding * 97, DType::f32, {1, 6, 97}), expected,
                 kModelBound);
  }
}

TEST_F(DecoderOnly, InputsOfTheWrongShapeAreRefused) {
  for (const Shape& shape : {Shape{3}, Shape{}, Shape{0, 3}, Shape{1, 0}, Shape{1, 2, 3}}) {
    const Tensor ids = Tensor::zeros(shape, DType::i32);
    Request request;
    request.input_ids = ids;
    refuse(ErrorCode::shape_mismatch, {"forward", "input_ids", shape.text()}, request);
  }
  const Tensor floats = Tensor::zeros({1, 3});
  Request request;
  request.input_ids = floats;
  refuse(ErrorCode::dtype_mismatch, {"float32", "int32"}, request);
}

TEST_F(DecoderOnly, IdsOutsideTheVocabularyAreRefused) {
  const Tensor ids = tokens({3, 97, 5});
  Request request;
  request.input_ids = ids;
  refuse(ErrorCode::invalid_argument, {"97", "[0, 1]", "97 rows"}, request);
}

// Rotary positions are computed, so they continue past those of the training.
TEST_F(DecoderOnly, MoreTokensThanTrainedPositionsAreRun) {
  const Tensor ids = random_ids(6, 1, 65, 97);
  const Tensor whole = forward(model, ids);
  KeyValueCache cache = model.make_cache();
  forward(model, columns(ids, 0, 0, 60), cache);
  const Tensor rest = forward(model, columns(ids, 0, 60, 5), cache);
  EXPECT_EQ(cache.length(), 65u);
  const float* last = whole.f32() + 64 * 97;
  EXPECT_EQ(std::memcmp(rest.f32() + 4 * 97, last, 97 * sizeof(float)), 0);
}

TEST_F(DecoderOnly, MasksAndPositionsOfTheWrongShapeOrTypeAreRefused) {
  const Tensor ids = random_ids(7, 2, 5, 97);
  const Tensor narrow = Tensor::zeros({2, 4}, DType::u8);
  const Tensor narrow_ids = Tensor::zeros({2, 4}, DType::i32), floats = Tensor::zeros({2, 5});
  const TensorView narrow_view = narrow, floats_view = floats, narrow_positions = narrow_ids;
  Request request;
  request.input_ids = ids;
  request.attention_mask = narrow_view;
  refuse(ErrorCode::shape_mismatch, {"attention_mask", "[2, 4]", "[2, 5]"}, request);
  request.attention_mask = floats_view;
  refuse(ErrorCode::dtype_mismatch, {"float32", "uint8"}, request);
  request.attention_mask.reset();
  request.position_ids = narrow_positions;
  refuse(ErrorCode::shape_mismatch, {"position_ids", "[2, 4]", "[2, 5]"}, request);
  request.position_ids = floats_view;
  refuse(ErrorCode::dtype_mismatch, {"float32", "int32"}, request);
}

TEST_F(DecoderOnly, ACacheOfAnotherBatchIsRefused) {
  KeyValueCache cache = model.make_cache();
  forward(model, random_ids(8, 2, 3, 97), cache);
  const Tensor ids = random_ids(8, 1, 1, 97);
  Request request;
  request.input_ids = ids;
  request.cache = &cache;
  refuse(ErrorCode::shape_mismatch, {"forward", "2 sequences", "1"}, request);
}

TEST_F(DecoderOnly, ItWorksOnAfterARefusal) {
  const Tensor ids = random_ids(9, 1, 8, 97), expected = forward(model, ids);
  const Tensor wrong = tokens({3, -1});
  Request request;
  request.input_ids = wrong;
  for (int repeat = 0; repeat < 3; ++repeat) {
    refuse(ErrorCode::invalid_argument, {"-1"}, request);
    expect_same_bits("logits", forward(model, ids), expected);
  }
}

TEST_F(DecoderOnly, ARepeatedShapeTakesNoMoreMemory) {
  const Tensor ids = random_ids(10, 2, 30, 97);
  forward(model, ids);
  forward(model, ids);
  const std::size_t bytes = model.workspace_bytes();
  for (int repeat = 0; repeat < 5; ++repeat) forward(model, ids);
  EXPECT_EQ(model.workspace_bytes(), bytes);
}

}  // namespace
}  // namespace clearformer::test
