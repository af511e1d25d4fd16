#include "clearformer/models/generation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

using Tokens = std::vector<std::int32_t>;
using Rows = std::vector<Tokens>;

class GenerationOf : public ::testing::Test {
 protected:
  Rows generated(const Tensor& ids, const std::string& json, const Tensor* mask = nullptr) {
    return generate(model, ids, options(json), mask);
  }
  DecoderOnlyModel model = load_stories();  // 512 words, 512 positions
  Tensor prompt = tokens({1, 403, 407, 261, 378});
};

TEST_F(GenerationOf, TheSameSeedGivesTheSameTokens) {
  const std::string json = R"({"max_new_tokens": 40, "do_sample": true, "seed": 11})";
  const Rows first = generated(prompt, json);
  EXPECT_EQ(generated(prompt, json), first);
  EXPECT_NE(generated(prompt, R"({"max_new_tokens": 40, "do_sample": true, "seed": 12})"), first);
}

TEST_F(GenerationOf, EveryRowOfABatchDrawsForItself) {
  Tensor batch({3, 5}, DType::i32);
  for (std::size_t i = 0; i < 15; ++i) {
    batch.mutable_view().as<std::int32_t>()[i] = prompt.view().as<std::int32_t>()[i % 5];
  }
  const Rows rows = generated(batch, R"({"max_new_tokens": 20, "do_sample": true, "seed": 5})");
  EXPECT_NE(rows[0], rows[1]);
  EXPECT_NE(rows[1], rows[2]);
  // The first row is what it is alone.
  EXPECT_EQ(rows[0],
            generated(prompt, R"({"max_new_tokens": 20, "do_sample": true, "seed": 5})")[0]);
  const Rows greedy = generated(batch, R"({"max_new_tokens": 20})");
  EXPECT_EQ(greedy[0], greedy[1]);
}

TEST_F(GenerationOf, ALowTemperatureAndOneCandidateAreGreedy) {
  const Rows greedy = generated(prompt, R"({"max_new_tokens": 30})");
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "top_k": 1})"), greedy);
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "top_p": 1e-9})"),
            greedy);
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "temperature": 1e-4})"),
            greedy);
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 30, "do_sample": true, "temperature": 1e-30})"),
            greedy);
}

TEST_F(GenerationOf, AnEndTokenEndsASequenceAndPaddingFollows) {
  const Tokens story = generated(prompt, R"({"max_new_tokens": 30})")[0];
  // The token that first appears latest ends this row; the batch's other row goes on.
  const std::int32_t end = story[4];
  const auto at =
      static_cast<std::size_t>(std::find(story.begin(), story.end(), end) - story.begin());
  const Rows alone =
      generated(prompt, concat(R"({"max_new_tokens": 30, "eos_token_id": )", end, "}"));
  EXPECT_EQ(alone[0], Tokens(story.begin(), story.begin() + static_cast<int>(at) + 1));

  Tensor batch({2, 5}, DType::i32);
  const Tensor other = random_ids(3, 1, 5, 512);
  std::copy_n(prompt.view().as<std::int32_t>(), 5, batch.mutable_view().as<std::int32_t>());
  std::copy_n(other.view().as<std::int32_t>(), 5, batch.mutable_view().as<std::int32_t>() + 5);
  const Tokens second = generated(other, R"({"max_new_tokens": 30})")[0];
  ASSERT_EQ(std::find(second.begin(), second.begin() + static_cast<int>(at) + 2, end),
            second.begin() + static_cast<int>(at) + 2)
      << "the example needs another prompt";
  for (const int padding : {0, 9}) {
    const Rows rows = generated(batch, concat(R"({"max_new_tokens": 30, "pad_token_id": )", padding,
                                              R"(, "eos_token_id": )", end, "}"));
    EXPECT_EQ(rows[0].size(), rows[1].size());
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      EXPECT_EQ(rows[0][i], i <= at ? story[i] : padding) << "token " << i;
    }
    EXPECT_TRUE(std::equal(rows[1].begin(), rows[1].end(), second.begin()));
  }
}

TEST_F(GenerationOf, WithoutPaddingTokenTheEndTokenPads) {
  const Tokens story = generated(prompt, R"({"max_new_tokens": 3})")[0];
  Tensor batch({2, 5}, DType::i32);
  std::copy_n(prompt.view().as<std::int32_t>(), 5, batch.mutable_view().as<std::int32_t>());
  std::copy_n(random_ids(3, 1, 5, 512).view().as<std::int32_t>(), 5,
              batch.mutable_view().as<std::int32_t>() + 5);
  const Rows rows =
      generated(batch, concat(R"({"max_new_tokens": 6, "eos_token_id": )", story[0], "}"));
  EXPECT_EQ(rows[0], Tokens(rows[0].size(), story[0]));
}

TEST_F(GenerationOf, TheFirstTokensCannotEndBeforeTheMinimum) {
  const Tokens story = generated(prompt, R"({"max_new_tokens": 12})")[0];
  const std::string json =
      concat(R"({"max_new_tokens": 12, "min_new_tokens": 6, "eos_token_id": )", story[0], "}");
  Generation generation(model, prompt, nullptr, options(json));
  for (std::size_t step = 0; !generation.done(); ++step) {
    const Generation::Step made = generation.next();
    if (step >= 6) continue;
    EXPECT_NE(made.tokens[0], story[0]);
    EXPECT_EQ(made.scores.f32()[story[0]], -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isfinite(made.logits.f32()[story[0]])) << "logits are the model's";
  }
}

TEST_F(GenerationOf, LengthsAreCountedAsUpstreamDoes) {
  EXPECT_EQ(generated(prompt, R"({"max_new_tokens": 1})")[0].size(), 1u);
  EXPECT_EQ(generated(prompt, R"({"max_length": 9})")[0].size(), 4u);
  EXPECT_EQ(generated(prompt, R"({"max_length": 9, "max_new_tokens": 7})")[0].size(), 7u);
  EXPECT_EQ(generated(prompt, "{}")[0].size(), 15u);
}

TEST_F(GenerationOf, ScoresAreProcessedAndLogitsAreNot) {
  Generation sampled(
      model, prompt, nullptr,
      options(R"({"max_new_tokens": 1, "do_sample": true, "top_k": 3, "temperature": 0.5})"));
  const Generation::Step step = sampled.next();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    const float score = step.scores.f32()[i];
    if (std::isinf(score)) continue;
    ++kept;
    EXPECT_EQ(score, step.logits.f32()[i] / 0.5f);
  }
  EXPECT_EQ(kept, 3u);
  EXPECT_EQ(step.logits.shape(), (Shape{1, 512}));
}

TEST_F(GenerationOf, AStepCanBeTracedAndTheTokensStay) {
  const Rows expected = generated(prompt, R"({"max_new_tokens": 5})");
  Generation generation(model, prompt, nullptr, options(R"({"max_new_tokens": 5})"));
  for (std::size_t step = 0; step < 5; ++step) {
    Trace trace;
    trace.capture("*hook_pattern");
    EXPECT_EQ(generation.next(&trace).tokens[0], expected[0][step]);
    ASSERT_EQ(trace.captured().size(), 5u);
    EXPECT_EQ(trace.captured()[0].value.shape(),
              step == 0 ? (Shape{1, 8, 5, 5}) : (Shape{1, 8, 1, 5 + step}));
  }
  EXPECT_TRUE(generation.done());
  EXPECT_EQ(generation.cache().length(), 9u);
}

TEST_F(GenerationOf, AStepAfterTheLastIsRefused) {
  Generation generation(model, prompt, nullptr, options(R"({"max_new_tokens": 1})"));
  EXPECT_TRUE(generation.next().done);
  expect_error(ErrorCode::invalid_argument, {"generate", "complete"}, [&] { generation.next(); });
}

TEST_F(GenerationOf, RequestsThatCannotBeMetAreRefused) {
  const auto refuse = [&](ErrorCode code, const std::vector<std::string>& parts, const Tensor& ids,
                          const std::string& json, const Tensor* mask = nullptr) {
    expect_error(code, parts, [&] { generated(ids, json, mask); });
  };
  constexpr auto kArgument = ErrorCode::invalid_argument, kShape = ErrorCode::shape_mismatch;
  refuse(kArgument, {"generate", "5 prompt", "508 new", "512 positions"}, prompt,
         R"({"max_new_tokens": 508})");
  refuse(kArgument, {"max_new_tokens", "at least 1"}, prompt, R"({"max_new_tokens": 0})");
  refuse(kArgument, {"prompt has 5", "max_length allows 5"}, prompt, R"({"max_length": 5})");
  refuse(kArgument, {"positions"}, prompt, R"({"max_new_tokens": 2147483647})");
  refuse(kShape, {"generate", "input_ids", "[0, 5]"}, Tensor::zeros({0, 5}, DType::i32), "{}");
  refuse(kShape, {"generate", "input_ids", "[5]"}, Tensor::zeros({5}, DType::i32), "{}");
  refuse(ErrorCode::dtype_mismatch, {"int32"}, Tensor::zeros({1, 5}), "{}");
  refuse(kArgument, {"embedding", "512"}, tokens({1, 512}), "{}");
  const Tensor short_mask = Tensor::zeros({1, 4}, DType::u8);
  refuse(kShape, {"attention_mask", "[1, 4]", "[1, 5]"}, prompt, "{}", &short_mask);
  const Tensor right_padded = Tensor::zeros({1, 5}, DType::u8);
  refuse(kArgument, {"sequence 0", "pad on the left"}, prompt, "{}", &right_padded);
  const Tensor float_mask = Tensor::zeros({1, 5});
  refuse(ErrorCode::dtype_mismatch, {"float32", "uint8"}, prompt, "{}", &float_mask);
}

}  // namespace
}  // namespace clearformer::test
