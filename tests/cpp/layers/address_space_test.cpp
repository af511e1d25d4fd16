// Sizes whose products exceed the address space, of 32 bits in WebAssembly: refused, never wrapped.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "clearformer/layers/functional.h"
#include "clearformer/layers/key_value_cache.h"
#include "clearformer/layers/log_mel_fbank.h"
#include "clearformer/layers/log_mel_spectrogram.h"
#include "clearformer/layers/position_interpolation.h"
#include "clearformer/layers/positional_encoding.h"
#include "clearformer/layers/relative_position.h"
#include "clearformer/layers/rotary_embedding.h"
#include "clearformer/loading/inspection.h"
#include "clearformer/tensor/typed_memory.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kQuarter = kMost / 4 + 2;  // times 4 it wraps to 4
constexpr auto kTooMuch = ErrorCode::out_of_memory;

TEST(AddressSpace, KeysAndValuesBeyondItAreRefused) {
  for (const CacheFormat format : {CacheFormat::f32, CacheFormat::f16, CacheFormat::q8}) {
    const PackedKeyValues::Sizes sizes{kMost / 64, 4, 8, 8};
    expect_error(kTooMuch, {}, [&] { PackedKeyValues::key_bytes(sizes, format, 64); });
    expect_error(kTooMuch, {}, [&] { PackedKeyValues::value_bytes(sizes, format, 64); });
  }
}

TEST(AddressSpace, ACopyOfACacheHasRoomForTheModelsPositions) {
  KeyValueCache cache(1, 40);
  const PackedKeyValues::Sizes sizes{1, 1, 4, 4};
  const Tensor x = Tensor::zeros({1, 5, 1, 4});
  cache.reserve(0, sizes, 5).append(positions_first(x), positions_first(x));
  EXPECT_EQ(cache.copy({{0}, 5}, kMost).capacity(), PackedKeyValues::rounded(40));
}

TEST(AddressSpace, GridsBeyondItAreRefused) {
  const Tensor table = Tensor::zeros({4, 8}), nothing = Tensor::zeros({4, 0});
  for (const Grid grid : {Grid{kQuarter, 4}, Grid{4, kQuarter}, Grid{kMost, kMost}}) {
    expect_error(kTooMuch, {"more elements"}, [&] { interpolate_positions(table, grid, {2, 2}); });
    expect_error(kTooMuch, {"more elements"}, [&] { interpolate_positions(table, {2, 2}, grid); });
  }
  EXPECT_EQ(interpolate_positions(nothing, {2, 2}, {1, 1u << 30}).shape(), (Shape{1u << 30, 0}));
}

TEST(AddressSpace, PaddingAndTapsBeyondItAreRefused) {
  const Tensor x = Tensor::zeros({1, 1, 5}), weight = Tensor::zeros({1, 1, 3});
  const auto refuse = [&](const ConvolutionOptions& options) {
    expect_error(ErrorCode::shape_mismatch, {"3 taps"},
                 [&] { conv1d(x, weight, nullptr, options); });
  };
  refuse({.dilation = kMost / 2 + 1});
  refuse({.padding = kMost});
  refuse({.padding = kMost / 2 + 1, .padding_behind = kMost / 2 + 1});
}

TEST(AddressSpace, TablesBeyondItAreRefusedAtOnce) {
  const Tensor table = Tensor::zeros({32, 2});
  SinusoidConfig wide;
  wide.d_model = kMost / 2;
  expect_error(kTooMuch, {}, [&] { sinusoidal_table(0, 3, wide); });
  expect_error(kTooMuch, {}, [&] { relative_position_bias(table, {}, {2, kMost, 0}); });
  expect_error(kTooMuch, {}, [&] { relative_position_bias(table, {}, {kMost / 2, 3, 0}); });
  expect_error(kTooMuch, {}, [&] { alibi_bias(2, {1, kMost, 0}); });
  EXPECT_EQ(alibi_bias(2, {kMost / 2, 0, 0}).elements(), 0u);
}

// What is computed per column, head, pair or frequency is kept in containers, also for no position at all.
TEST(AddressSpace, NumbersBeyondItAreRefusedAtOnce) {
  constexpr std::size_t kHalf = kMost / 2 + 1, kEven = kMost - 1;
  const Tensor none({0}, DType::i32);
  for (const std::size_t count : {kHalf, kEven}) {
    SinusoidConfig wide;
    wide.d_model = count;
    expect_error(kTooMuch, {}, [&] { shift_matrix(0, wide); });
    expect_error(kTooMuch, {}, [&] { sinusoidal_table(0, 0, wide); });
    expect_error(kTooMuch, {}, [&] { sinusoidal_encoding(none, wide); });
    expect_error(kTooMuch, {}, [&] { alibi_bias(count, {0, 7, 2}); });
    expect_error(kTooMuch, {}, [&] { RotaryEmbedding({count}); });
    RotaryConfig proportional{count};
    proportional.rotary_dim = 2;
    proportional.scaling.kind = RotaryScaling::Kind::proportional;
    expect_error(kTooMuch, {}, [&] { RotaryEmbedding{proportional}; });
    expect_error(kTooMuch, {}, [&] { FourierTransform{count}; });
    expect_error(kTooMuch, {}, [&] { KeyValueCache(count, 8); });
    const TensorView rows(nullptr, DType::f32, {count, 0});
    expect_error(kTooMuch, {}, [&] { layer_norm(rows, 1, nullptr, nullptr, 1e-5f); });
    expect_error(kTooMuch, {}, [&] { rms_norm(rows, 1, nullptr, 1e-5f); });
    const Tensor no_heads({32, 0});
    expect_error(kTooMuch, {},
                 [&] { relative_position_bias(no_heads, {}, {count / 2, count / 2, 0}); });
    LogMelConfig long_frames, many_filters;
    long_frames.n_fft = many_filters.feature_size = count;
    expect_error(kTooMuch, {}, [&] { mel_filter_bank(long_frames); });
    expect_error(kTooMuch, {}, [&] { mel_filter_bank(many_filters); });
    LogMelFbankConfig many_bins;
    many_bins.num_mel_bins = count;
    expect_error(kTooMuch, {}, [&] { log_mel_fbank(Tensor::zeros({400}), many_bins); });
  }
}

TEST(AddressSpace, ContainersBeyondItAreATypedError) {
#ifndef __EMSCRIPTEN__  // there the bindings turn it into one
  expect_error(kTooMuch, {"out of memory"},
               [] { typed_memory([] { std::vector<double>().reserve(kMost); }); });
#endif
}

std::string problem_in_config(const std::string& config) {
  InspectedFolder folder;
  folder.config = config;
  const Inspection found = inspect(folder);
  return found.problems.empty() ? "none" : found.problems.front().text;
}

// Alike on every platform: each of the sizes is allowed, what layers make of them is not.
TEST(AddressSpace, ProductsInAConfigAreLimitedAsItsSizesAre) {
  const std::pair<const char*, const char*> refused[] = {
      {"num_attention_heads", R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
          "num_attention_heads": 65537, "num_key_value_heads": 65537, "head_dim": 65536})"},
      {"num_heads", R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"],
          "num_heads": 65537, "d_kv": 65536})"},
      {"image_size", R"({"model_type": "vit", "architectures": ["ViTModel"],
          "image_size": [262148, 262144], "patch_size": 4})"},
      {"patch_size", R"({"model_type": "vit", "architectures": ["ViTModel"],
          "image_size": 131072, "patch_size": 65536, "num_channels": 1})"},
      {"mlp_ratio", R"({"model_type": "dinov2", "architectures": ["Dinov2Model"],
          "mlp_ratio": 2147483647})"},
      {"n_embd", R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
          "n_embd": 600000000, "n_head": 1})"}};
  for (const auto& [key, config] : refused) {
    const std::string problem = problem_in_config(config);
    EXPECT_NE(problem.find(concat("\"", key, "\" and the sizes it multiplies make")),
              std::string::npos)
        << problem;
    EXPECT_NE(problem.find("more than 2147483647"), std::string::npos) << problem;
  }
}

}  // namespace
}  // namespace clearformer::test
