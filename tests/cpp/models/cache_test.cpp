// Decoding with the key/value cache: the same bits as the full forward pass, for any split of the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "clearformer/loading/load_model.h"
#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/model_runs.h"
#include "support/rounded_rows.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kTokens = 60;

class Cache : public ::testing::TestWithParam<const char*> {
 protected:
  // Positions first … first + count - 1 of logits (1, T, V).
  TensorView rows(const Tensor& logits, std::size_t first, std::size_t count) const {
    const std::size_t vocabulary = logits.dim(2);
    return {logits.f32() + first * vocabulary, DType::f32, {1, count, vocabulary}};
  }
  // Logits after the whole text, which is cut into pieces of `chunk` positions.
  Tensor in_chunks(CacheFormat format, std::size_t chunk) {
    KeyValueCache cache(model.config().n_layers(), kTokens, format);
    Tensor all(full.shape());
    for (std::size_t first = 0; first < kTokens; first += chunk) {
      const std::size_t count = std::min(chunk, kTokens - first);
      const Tensor part = forward(model, columns(ids, 0, first, count), cache);
      std::copy_n(part.f32(), part.elements(), all.f32() + first * all.dim(2));
    }
    return all;
  }
  std::unique_ptr<Model> loaded = load_folder(fixture_path(GetParam()));
  Model& model = *loaded;
  Tensor ids = random_ids(1, 1, kTokens, model.config().d_vocab());
  Tensor full = forward(model, ids);
};

TEST_P(Cache, EveryPositionHasTheBitsOfTheFullForward) {
  KeyValueCache cache = model.make_cache();
  for (std::size_t t = 0; t < kTokens; ++t) {
    const Tensor logits = forward(model, columns(ids, 0, t, 1), cache);
    expect_same_bits(concat("position ", t), logits, rows(full, t, 1));
    EXPECT_EQ(cache.length(), t + 1);
  }
}

TEST_P(Cache, AnyCutHasTheBitsOfTheFullForward) {
  for (const std::size_t chunk : {2u, 7u, 16u, 33u, 59u}) {
    KeyValueCache cache = model.make_cache();
    for (std::size_t first = 0; first < kTokens; first += chunk) {
      const std::size_t count = std::min(chunk, kTokens - first);
      expect_same_bits(concat("chunks of ", chunk, " at ", first),
                       forward(model, columns(ids, 0, first, count), cache),
                       rows(full, first, count));
    }
  }
}

// Rounded keys and values: every cut has the bits of one pass over a cache of the format, which differs from fp32
// by little.
TEST_P(Cache, AnyCutHasTheSameBitsInEveryFormat) {
  for (const CacheFormat format : {CacheFormat::f16, CacheFormat::q8}) {
    const Tensor whole = in_chunks(format, kTokens);
    for (const std::size_t chunk : {1u, 7u, 33u}) {
      expect_same_bits(concat(to_string(format), " in chunks of ", chunk), in_chunks(format, chunk),
                       whole);
    }
    double squares = 0.0, errors = 0.0;
    for (std::size_t i = 0; i < whole.elements(); ++i) {
      const double value = full.f32()[i], error = whole.f32()[i] - value;
      squares += value * value;
      errors += error * error;
    }
    const double relative = std::sqrt(errors / squares);
    EXPECT_GT(relative, 0.0) << "keys and values were not rounded";
    EXPECT_LT(relative, format == CacheFormat::f16 ? 1e-3 : 2e-2);
  }
}

TEST_P(Cache, ACroppedCacheGoesOnAsIfTheRestHadNeverBeen) {
  KeyValueCache cache = model.make_cache();
  forward(model, columns(ids, 0, 0, 20), cache);
  forward(model, random_ids(99, 1, 30, model.config().d_vocab()), cache);  // an unrelated text
  cache.crop(20);
  expect_same_bits("after the crop", forward(model, columns(ids, 0, 20, 40), cache),
                   rows(full, 20, 40));
  cache.crop(0);
  expect_same_bits("from the start", forward(model, ids, cache), full);
}

// Sequences and positions of a copy are those of the original, which stays as it was.
TEST_P(Cache, ACopyGoesOnFromItsPart) {
  KeyValueCache cache = model.make_cache();
  const Tensor two = random_ids(2, 2, kTokens, model.config().d_vocab());
  const Tensor whole = forward(model, two);
  for (const auto& [first, count] : {std::pair(0u, 41u), {41u, 19u}}) {
    Tensor part({2, count}, DType::i32);
    for (std::size_t row = 0; row < 2; ++row) {
      std::copy_n(two.view().as<std::int32_t>() + row * kTokens + first, count,
                  part.mutable_view().as<std::int32_t>() + row * count);
    }
    forward(model, part, cache);
  }
  std::vector<std::size_t> lengths = {41};
  if (!model.config().main().stack.delta) lengths.insert(lengths.end(), {1, 16, 58});
  for (const std::size_t length : lengths) {
    const std::size_t rows[] = {1, 0, 1}, rest = kTokens - length;
    KeyValueCache copy = cache.copy({{1, 0, 1}, length}, rest);
    EXPECT_EQ(copy.length(), length);
    EXPECT_EQ(copy.batch(), 3u);
    Tensor ids({3, rest}, DType::i32);
    for (std::size_t row = 0; row < 3; ++row) {
      const Tensor part = columns(two, rows[row], length, rest);
      std::copy_n(part.view().as<std::int32_t>(), rest,
                  ids.mutable_view().as<std::int32_t>() + row * rest);
    }
    const Tensor logits = forward(model, ids, copy);
    const std::size_t vocabulary = logits.dim(2);
    for (std::size_t row = 0; row < 3; ++row) {
      const Shape shape{1, rest, vocabulary};
      expect_same_bits(
          concat("row ", row, " from ", length),
          TensorView(logits.f32() + row * rest * vocabulary, DType::f32, shape),
          TensorView(whole.f32() + (rows[row] * kTokens + length) * vocabulary, DType::f32, shape));
    }
    EXPECT_EQ(cache.length(), kTokens);
  }
  expect_error(ErrorCode::invalid_argument, {"no sequence 2", "holds 2"},
               [&] { cache.copy({{0, 2}, 41}, 0); });
  expect_error(ErrorCode::invalid_argument, {"no 61 positions", "holds 60"},
               [&] { cache.copy({{0}, 61}, 0); });
  expect_error(ErrorCode::invalid_argument, {"no layer"},
               [&] { cache.copy({{0}, 41, model.config().n_layers()}, 0); });
}

TEST_P(Cache, PatternsOverTheCacheAreTheRowsOfTheFullOnes) {
  Trace whole, step;
  whole.capture("blocks.1.attn.hook_pattern");
  step.capture("blocks.1.attn.hook_pattern");
  forward(model, ids, &whole);
  KeyValueCache cache = model.make_cache();
  forward(model, columns(ids, 0, 0, kTokens - 1), cache);
  forward(model, columns(ids, 0, kTokens - 1, 1), cache, &step);
  const Tensor& all = whole.at("blocks.1.attn.hook_pattern");
  const Tensor& last = step.at("blocks.1.attn.hook_pattern");
  const std::size_t heads = all.dim(1);
  ASSERT_EQ(last.shape(), (Shape{1, heads, 1, kTokens}));
  for (std::size_t head = 0; head < heads; ++head) {
    expect_same_bits(
        "row", TensorView(last.f32() + head * kTokens, DType::f32, {kTokens}),
        TensorView(all.f32() + ((head + 1) * kTokens - 1) * kTokens, DType::f32, {kTokens}));
  }
}

// A batch with a mask: the mask covers past and new tokens.
TEST_P(Cache, APaddedBatchDecodesAsItDoesWhole) {
  const std::size_t vocabulary = model.config().d_vocab(), length = 12;
  const Tensor batch = random_ids(2, 2, length, vocabulary);
  Tensor mask({2, length}, DType::u8), positions({2, length}, DType::i32);
  for (std::size_t i = 0; i < 2 * length; ++i) {
    const bool padding = i < 4;
    mask.mutable_view().as<std::uint8_t>()[i] = padding ? 0 : 1;
    positions.mutable_view().as<std::int32_t>()[i] =
        static_cast<std::int32_t>(padding      ? 0
                                  : i < length ? i - 4
                                               : i - length);
  }
  const auto cut = [](const Tensor& x, std::size_t first, std::size_t count) {
    Tensor part({2, count}, x.dtype());
    const std::size_t size = size_of(x.dtype());
    for (std::size_t row = 0; row < 2; ++row) {
      std::copy_n(static_cast<const char*>(x.data()) + (row * length + first) * size, count * size,
                  static_cast<char*>(part.data()) + row * count * size);
    }
    return part;
  };
  const auto run = [&](std::size_t first, std::size_t count, KeyValueCache* cache) {
    const Tensor part = cut(batch, first, count), seen = cut(mask, 0, first + count);
    const Tensor at = cut(positions, first, count);
    const TensorView mask_view = seen, position_view = at;
    ModelInputs request;
    request.input_ids = part;
    request.attention_mask = mask_view;
    request.position_ids = position_view;
    request.cache = cache;
    return logits_of(model, request);
  };
  const Tensor whole = run(0, length, nullptr);
  KeyValueCache cache = model.make_cache();
  run(0, 7, &cache);
  const Tensor rest = run(7, 5, &cache);
  for (std::size_t row = 0; row < 2; ++row) {
    expect_same_bits(
        concat("row ", row),
        TensorView(rest.f32() + row * 5 * vocabulary, DType::f32, {5, vocabulary}),
        TensorView(whole.f32() + (row * length + 7) * vocabulary, DType::f32, {5, vocabulary}));
  }
}

// A pass that fails must not leave some of its keys in the cache.
TEST_P(Cache, AFailedPassLeavesItAsItWas) {
  KeyValueCache cache = model.make_cache();
  forward(model, columns(ids, 0, 0, 20), cache);
  Trace trace;
  trace.edit("blocks.1.hook_resid_pre", [](std::string_view, MutableTensorView) {
    throw Error(ErrorCode::invalid_argument, "stop here");
  });
  expect_error(ErrorCode::invalid_argument, {"stop here"},
               [&] { forward(model, columns(ids, 0, 20, 5), cache, &trace); });
  EXPECT_EQ(cache.length(), 20u);
  expect_same_bits("after the failure", forward(model, columns(ids, 0, 20, 40), cache),
                   rows(full, 20, 40));
}

TEST(CacheFormats, AreRefusedWhereNothingIsKept) {
  for (const CacheFormat format : {CacheFormat::f16, CacheFormat::q8}) {
    expect_error(
        ErrorCode::unsupported,
        {"cache_dtype", std::string(to_string(format)), "bert", "keeps no keys and values"}, [&] {
          from_pretrained(fixture_path("models/bert/even_base"), Task::base, MatrixFormat::f32,
                          format);
        });
  }
}

// Of other sizes, of an encoder-decoder or of a decoder alone, and of a pass that began at another layer.
TEST(Caches, OfAnotherModelAreRefused) {
  const auto expect_refused = [](Model& model, const ModelInputs& inputs) {
    expect_error(ErrorCode::invalid_argument, {"past_key_values are not those of this model"},
                 [&] { model.forward(inputs); });
  };
  const auto odd = load_tiny("odd"), stories = from_pretrained(bundled_model("stories260K"));
  const auto translator = from_pretrained(fixture_path("models/t5/even"));
  const Tensor ids = tokens({3, 4, 5}), one = tokens({3});
  for (const auto& [from, to] : {std::pair(odd.get(), stories.get()), {stories.get(), odd.get()}}) {
    KeyValueCache cache = from->make_cache();
    forward(*from, ids, cache);
    ModelInputs inputs = inputs_of(one);
    inputs.cache = &cache;
    expect_refused(*to, inputs);
    EXPECT_EQ(cache.length(), 3u);
  }
  KeyValueCache none(0, 10), source = translator->make_cache();
  ModelInputs inputs = inputs_of(one);
  inputs.cache = &none;
  expect_refused(*odd, inputs);
  inputs.cache = &source;
  inputs.decoder_input_ids = one.view();
  translator->forward(inputs);
  inputs.decoder_input_ids.reset();
  expect_refused(*odd, inputs);

  KeyValueCache cache = odd->make_cache();
  forward(*odd, ids, cache);
  KeyValueCache upper = cache.copy({{0}, 3, 1}, 2);
  inputs.cache = &upper;
  expect_refused(*odd, inputs);
}

// The memory's sequences are those of the target; a mask that does not fit it is refused.
TEST(Caches, OfAnEncoderDecoderHoldTheTargetsSequences) {
  const auto model = from_pretrained(fixture_path("models/t5/even"));
  const Tensor ids = tokens({3, 4, 5}), two = random_ids(1, 2, 1, model->config().d_vocab());
  KeyValueCache cache = model->make_cache();
  ModelInputs inputs = inputs_of(ids);
  inputs.decoder_input_ids = ids.view();
  inputs.cache = &cache;
  model->forward(inputs);
  inputs.input_ids.reset();
  const Tensor narrow = Tensor::zeros({1, 3}, DType::u8);
  inputs.decoder_attention_mask = narrow.view();
  expect_error(ErrorCode::shape_mismatch, {"decoder_attention_mask", "[1, 3]", "[1, 6]"},
               [&] { model->forward(inputs); });
  inputs.decoder_attention_mask.reset();
  cache.crop(0);
  inputs.decoder_input_ids = two.view();
  expect_error(ErrorCode::shape_mismatch, {"1 sequences in input_ids", "2"},
               [&] { model->forward(inputs); });
  inputs.decoder_input_ids = ids.view();
  cache.memory_mask = Tensor::zeros({1, 1}, DType::u8);
  expect_error(ErrorCode::invalid_argument, {"past_key_values"}, [&] { model->forward(inputs); });
}

// Without attention nothing but what convolutions keep tells how far back a cache can go.
TEST(Caches, OfConvolutionsGoBackAsFarAsTheyKeep) {
  const auto model = from_pretrained(fixture_path("models/lfm2/even"));
  const std::size_t vocabulary = model->config().d_vocab(), read = 2 * PastRows::kReach + 40;
  const std::size_t all = read + 5, kept = read - PastRows::kReach - 2;  // k - 1 before the reach
  const Tensor ids = random_ids(1, 1, all, vocabulary);
  const auto part = [&](std::size_t first, std::size_t count) {
    return columns(ids, 0, first, count);
  };
  const Tensor whole = forward(*model, ids);
  const auto expect_rest = [&](const char* what, KeyValueCache& cache, std::size_t from) {
    expect_same_bits(
        what, forward(*model, part(from, all - from), cache),
        TensorView(whole.f32() + from * vocabulary, DType::f32, Shape{1, all - from, vocabulary}));
  };
  const auto expect_refused = [&](const auto& call) {
    expect_error(ErrorCode::unsupported,
                 {"layer 0 is a convolution", concat("from position ", kept, " on"),
                  concat("to ", kept + 1)},
                 call);
  };
  KeyValueCache cache = model->make_cache();
  forward(*model, part(0, 30), cache);
  forward(*model, part(30, read - 30), cache);
  for (std::size_t t = read; t < all; ++t) forward(*model, part(t, 1), cache);
  expect_refused([&] { cache.crop(kept + 1); });
  expect_refused([&] { cache.copy({{0}, kept + 1}, 1); });
  EXPECT_EQ(cache.length(), all);
  KeyValueCache copy = cache.copy({{0}, kept + 2}, 1);
  expect_rest("a copy", copy, kept + 2);
  cache.crop(kept + 2);
  expect_rest("within reach", cache, kept + 2);
  cache.crop(0);
  forward(*model, ids, cache);  // of one call all is kept
  cache.crop(7);
  expect_rest("of the latest call", cache, 7);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, Cache,
                         ::testing::Values("llama_tiny/odd", "llama_tiny/tied",
                                           "llama_tiny/rope_llama3", "models/lfm2/even",
                                           "models/lfm2/odd", "models/qwen3_5_text/even",
                                           "models/qwen3_5_text/odd"),
                         [](const auto& checkpoint) {
                           std::string name = checkpoint.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace clearformer::test
