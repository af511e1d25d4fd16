// Patches of any size and number of channels against torch.nn.Conv2d and transformers' ViT.
#include "clearformer/layers/patch_embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/positional_encoding.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

const Fixture& patch_references() {
  static const Fixture fixture("patch_embedding");
  return fixture;
}

Tensor embed(const PatchEmbedding& embedding, const Tensor& images) {
  const Grid grid = embedding.grid(images.shape());
  Tensor patches({images.dim(0), grid.patches(), embedding.config().d_model});
  Arena arena;
  embedding.forward(images, patches, arena);
  return patches;
}

// The convolution's definition in double: patches (B, N, D), and the magnitudes that scale rounding errors.
struct Twin {
  std::vector<double> patches, magnitudes;
};
Twin twin_of(const Tensor& images, const Tensor& weight, const float* bias) {
  const std::size_t channels = images.dim(1), height = images.dim(2), width = images.dim(3);
  const std::size_t patch_height = weight.dim(2), patch_width = weight.dim(3);
  Twin twin;
  for (std::size_t b = 0; b < images.dim(0); ++b) {
    for (std::size_t top = 0; top + patch_height <= height; top += patch_height) {
      for (std::size_t left = 0; left + patch_width <= width; left += patch_width) {
        for (std::size_t out = 0; out < weight.dim(0); ++out) {
          double sum = bias == nullptr ? 0.0 : static_cast<double>(bias[out]);
          double magnitude = std::abs(sum);
          for (std::size_t i = 0; i < channels * patch_height * patch_width; ++i) {
            const std::size_t c = i / (patch_height * patch_width);
            const std::size_t y = top + i / patch_width % patch_height;
            const std::size_t x = left + i % patch_width;
            const double term =
                static_cast<double>(images.f32()[((b * channels + c) * height + y) * width + x]) *
                weight.f32()[out * channels * patch_height * patch_width + i];
            sum += term;
            magnitude += std::abs(term);
          }
          twin.patches.push_back(sum);
          twin.magnitudes.push_back(magnitude);
        }
      }
    }
  }
  return twin;
}

// n products, their sum and the bias are n + 1 roundings, the rounded reference one more.
std::vector<double> bounds_of(const Twin& twin, std::size_t length) {
  std::vector<double> bounds;
  for (const double magnitude : twin.magnitudes) {
    bounds.push_back(gamma(static_cast<double>(length) + 2.0) * magnitude);
  }
  return bounds;
}

TEST(PatchEmbedding, EveryConvolutionIsTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : patch_references().of_op("patch_embedding")) {
    SCOPED_TRACE(reference->name());
    const Tensor& images = reference->input("X");
    const auto& patch = reference->option("patch_size").array();
    PatchConfig config;
    config.channels = images.dim(1);
    config.patch_height = static_cast<std::size_t>(patch[0].number());
    config.patch_width = static_cast<std::size_t>(patch[1].number());
    config.d_model = reference->size_option("num_hiddens");
    const bool biased = reference->option("bias").boolean();
    config.bias = biased ? Bias::present : Bias::none;
    if (reference->name() == "ragged") config.remainder = Remainder::drop;
    const NameMap names;
    Weights weights = reference->state_dict(), for_twin = reference->state_dict();
    const PatchEmbedding embedding(WeightScope(weights, names), config);
    weights.check(Weights::Unexpected::refuse);
    const Tensor weight = for_twin.take(
        {"weight"}, {config.d_model, config.channels, config.patch_height, config.patch_width});
    const Tensor bias = biased ? for_twin.take({"bias"}, {config.d_model}) : Tensor();
    const Twin twin = twin_of(images, weight, biased ? bias.f32() : nullptr);
    const std::size_t length = weight.elements() / config.d_model;
    expect_close("output", embed(embedding, images), reference->output("output"),
                 bounds_of(twin, length));
    ++cases;
  }
  EXPECT_EQ(cases, 10u);
}

// transformers' ViTEmbeddings: patches, prepended class token, positions of the image's grid added.
TEST(PatchEmbedding, EveryViTEmbeddingIsTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : patch_references().of_op("vit_embeddings")) {
    SCOPED_TRACE(reference->name());
    const std::size_t width = reference->size_option("hidden_size");
    const std::size_t side = reference->size_option("patch_size");
    const std::size_t trained = reference->size_option("image_size") / side;
    const NameMap names;
    Weights weights = reference->state_dict(), for_twin = reference->state_dict();
    const WeightScope scope(weights, names);
    const PatchEmbedding embedding(scope / "patch_embeddings" / "projection",
                                   {3, side, side, width, Bias::present, Remainder::drop});
    const Tensor token = scope.take("cls_token", {1, 1, width});
    const Tensor table = scope.take("position_embeddings", {1, 1 + trained * trained, width});
    weights.check(Weights::Unexpected::refuse);

    const Tensor& images = reference->input("pixel_values");
    const Grid grid = embedding.grid(images.shape());
    const Tensor positions = interpolate_positions(table, square_grid(table.dim(1), 1), grid);
    expect_close("position_embeddings", positions, reference->output("position_embeddings"),
                 Bound{0.0, 2 * kRoundoff, 64 * 0x1p-53});
    Tensor output({1, 1 + grid.patches(), width});
    prepend_tokens(token, embed(embedding, images), output);
    add_encoding(output, positions);
    const Tensor weight =
        for_twin.take({"patch_embeddings.projection.weight"}, {width, 3, side, side});
    const Tensor bias = for_twin.take({"patch_embeddings.projection.bias"}, {width});
    std::vector<double> sizes = twin_of(images, weight, bias.f32()).magnitudes;
    sizes.insert(sizes.begin(), token.f32(), token.f32() + width);
    // As for the patches, plus one rounding for adding the positions and one for the positions themselves.
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = gamma(static_cast<double>(3 * side * side) + 4.0) *
                 (std::abs(sizes[i]) + std::abs(positions.f32()[i]));
    }
    expect_close("output", output, reference->output("output"), sizes);
    ++cases;
  }
  EXPECT_EQ(cases, 7u);
}

TEST(PatchEmbedding, AnySizeEqualsTheDefinition) {
  Random random(41);
  for (std::size_t d = 1; d <= 33; d += 4) {
    for (const auto& [height, width] : {std::pair{1, 1}, {1, 4}, {5, 2}, {3, 3}}) {
      const PatchConfig config{1 + d % 4, static_cast<std::size_t>(height),
                               static_cast<std::size_t>(width), d};
      const Tensor weight =
          random.tensor({d, config.channels, config.patch_height, config.patch_width});
      const Tensor bias = random.tensor({d});
      Weights weights;
      weights.add("weight", "test", weight.clone());
      weights.add("bias", "test", bias.clone());
      const NameMap names;
      const PatchEmbedding embedding(WeightScope(weights, names), config);
      const Tensor images =
          random.tensor({2, config.channels, 3 * config.patch_height, 2 * config.patch_width});
      SCOPED_TRACE(concat("d ", d, ", patches of ", height, " x ", width));
      const Twin twin = twin_of(images, weight, bias.f32());
      const Tensor patches = embed(embedding, images);
      expect_close("patches", Tensor::copy_of(patches.view().reshaped({patches.elements()})),
                   twin.patches, bounds_of(twin, weight.elements() / d));
      const std::size_t image = images.elements() / 2;
      const Tensor second = Tensor::copy_of(
          {images.f32() + image, DType::f32, {1, images.dim(1), images.dim(2), images.dim(3)}});
      expect_same_bits("alone", embed(embedding, second),
                       TensorView(patches.f32() + 6 * d, DType::f32, {1, 6, d}));
    }
  }
}

TEST(PrependTokens, PutsAllTokensInFrontOfEverySequence) {
  Random random(42);
  const Tensor x = random.tensor({2, 3, 5}), tokens = random.tensor({1, 2, 5});
  Tensor output({2, 5, 5});
  prepend_tokens(tokens, x, output);
  for (std::size_t i = 0; i < output.elements(); ++i) {
    const std::size_t b = i / 25, row = i / 5 % 5;
    EXPECT_EQ(output.f32()[i],
              row < 2 ? tokens.f32()[i % 25] : x.f32()[b * 15 + (row - 2) * 5 + i % 5]);
  }
}

TEST(PatchEmbedding, RefusalsNameTheRuleAndTheShapes) {
  const auto shape = ErrorCode::shape_mismatch;
  const auto make = [](PatchConfig config) {
    Weights weights;
    weights.add("weight", "test",
                Tensor::zeros({5, config.channels, config.patch_height, config.patch_width}));
    weights.add("bias", "test", Tensor::zeros({5}));
    const NameMap names;
    PatchEmbedding embedding(WeightScope(weights, names), config);
    weights.check(Weights::Unexpected::refuse);
    return embedding;
  };
  const PatchEmbedding embedding = make({3, 3, 4, 5});
  expect_error(shape, {"patch embedding", "7 x 8", "3 x 4"}, [&] { embedding.grid({1, 3, 7, 8}); });
  expect_error(shape, {"6 x 9", "3 x 4"}, [&] { embedding.grid({1, 3, 6, 9}); });
  expect_error(shape, {"[1, 2, 6, 8]", "3 channels"}, [&] { embedding.grid({1, 2, 6, 8}); });
  expect_error(shape, {"[3, 6, 8]"}, [&] { embedding.grid({3, 6, 8}); });
  const PatchEmbedding dropping = make({3, 3, 4, 5, Bias::present, Remainder::drop});
  EXPECT_EQ(dropping.grid({1, 3, 7, 9}), (Grid{2, 2}));
  expect_error(shape, {"2 x 9"}, [&] { dropping.grid({1, 3, 2, 9}); });
  expect_error(shape, {"[1, 3, 5]", "[1, 4, 5]"}, [&] {
    Arena arena;
    Tensor output({1, 3, 5});
    embedding.forward(Tensor::zeros({1, 3, 6, 8}), output, arena);
  });
  for (const auto& [patches, pixels] :
       {std::pair<Shape, Shape>{{1, 3, 5}, {1, 3, 6, 8}}, {{1, 4, 5}, {1, 3, 6, 7}}}) {
    const Tensor d_output = Tensor::zeros(patches);
    Tensor d_images(pixels);
    expect_error(shape, {"gradients", patches.text(), pixels.text()}, [&] {
      Arena arena;
      embedding.backward(Tensor::zeros({1, 3, 6, 8}), d_output, d_images, nullptr, arena);
    });
  }
  expect_error(shape, {"[5, 3, 3, 4]", "[6, 3, 3, 4]"}, [&] { make({3, 3, 4, 6}); });
  expect_error(ErrorCode::invalid_argument, {"3 x 0"}, [&] { make({3, 3, 0, 5}); });
  expect_error(ErrorCode::invalid_argument, {"dimension 0"}, [&] { make({3, 3, 4, 0}); });
  expect_error(shape, {"[1, 1, 4]", "[2, 3, 5]"}, [] {
    Tensor output({2, 4, 5});
    prepend_tokens(Tensor::zeros({1, 1, 4}), Tensor::zeros({2, 3, 5}), output);
  });
  expect_error(shape, {"[2, 3, 5]"}, [] {
    Tensor output({2, 3, 5});
    prepend_tokens(Tensor::zeros({5}), Tensor::zeros({2, 3, 5}), output);
  });
}

}  // namespace
}  // namespace clearformer::test
