// Caches of models with delta rules: how far they go back, and edits of their states. Any cut: cache_test.cpp.
#include <gtest/gtest.h>

#include <cstring>

#include "clearformer/loading/load_model.h"
#include "support/closeness.h"
#include "support/edited.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

// A delta rule has its state, and the one before the latest call.
TEST(DeltaCaches, GoBackByTheLatestCall) {
  const auto model = from_pretrained(fixture_path("models/qwen3_5_text/even"));
  const std::size_t vocabulary = model->config().d_vocab();
  const Tensor ids = random_ids(1, 1, 30, vocabulary);
  const Tensor whole = forward(*model, ids);
  const auto expect_rest = [&](const char* what, KeyValueCache& cache, std::size_t from) {
    expect_same_bits(
        what, forward(*model, columns(ids, 0, from, 30 - from), cache),
        TensorView(whole.f32() + from * vocabulary, DType::f32, Shape{1, 30 - from, vocabulary}));
  };
  const auto expect_refused = [&](std::size_t kept, std::size_t asked, const auto& call) {
    expect_error(ErrorCode::unsupported,
                 {"layer 0 is a delta rule", concat("to position ", kept, ", not to ", asked)},
                 call);
  };
  KeyValueCache cache = model->make_cache();
  forward(*model, columns(ids, 0, 0, 10), cache);
  forward(*model, columns(ids, 0, 10, 10), cache);
  expect_refused(10, 11, [&] { cache.crop(11); });
  expect_refused(10, 9, [&] { cache.copy({{0}, 9}, 1); });
  EXPECT_EQ(cache.length(), 20u);
  KeyValueCache copy = cache.copy({{0}, 10}, 1);
  expect_rest("a copy", copy, 10);
  cache.crop(10);
  expect_rest("the latest call", cache, 10);
  cache.crop(10);
  expect_refused(0, 5, [&] { cache.crop(5); });
  const std::size_t rows[] = {0, 0};
  cache.select(rows);
  const Tensor next = columns(ids, 0, 10, 1);
  Tensor twice({2, 1}, DType::i32);
  for (std::size_t row = 0; row < 2; ++row) {
    twice.mutable_view().as<std::int32_t>()[row] = next.view().as<std::int32_t>()[0];
  }
  const Tensor logits = forward(*model, twice, cache);
  for (std::size_t row = 0; row < 2; ++row) {
    expect_same_bits("a row",
                     TensorView(logits.f32() + row * vocabulary, DType::f32, Shape{vocabulary}),
                     TensorView(whole.f32() + 10 * vocabulary, DType::f32, Shape{vocabulary}));
  }
  cache.crop(0);
  expect_rest("from the start", cache, 0);
}

// The state after a call is what the next one reads: without one there is nothing that an edit could change.
TEST(DeltaCaches, GoOnFromAnEditedState) {
  const auto model = from_pretrained(fixture_path("models/qwen3_5_text/even"));
  const Tensor ids = random_ids(1, 1, 20, model->config().d_vocab());
  const auto run = [&](float factor) {
    Trace trace;
    trace.edit({.hook = "blocks.0.delta.hook_state",
                .op = Edit::Op::scale,
                .value = numbers({1}, {factor})});
    KeyValueCache cache = model->make_cache();
    const Tensor first = forward(*model, columns(ids, 0, 0, 12), cache, &trace);
    const Tensor second = forward(*model, columns(ids, 0, 12, 8), cache);
    return std::pair(first.clone(), second.clone());
  };
  const auto [first, second] = run(1.0f);
  const auto [same, changed] = run(0.5f);
  expect_same_bits("of the call itself", same, first);
  EXPECT_NE(std::memcmp(changed.data(), second.data(), second.view().bytes()), 0);
  Trace trace;
  trace.edit("blocks.0.delta.hook_state", [](std::string_view, MutableTensorView) {});
  expect_error(ErrorCode::invalid_argument, {"blocks.0.delta.hook_state needs past_key_values"},
               [&] { forward(*model, ids, &trace); });
}

}  // namespace
}  // namespace clearformer::test
