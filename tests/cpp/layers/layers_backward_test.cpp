// Backward passes of layers of several parts, against steps of the layers themselves.

#include <gtest/gtest.h>

#include "clearformer/layers/audio_embedding.h"
#include "clearformer/layers/disentangled_attention.h"
#include "clearformer/layers/image_embedding.h"
#include "clearformer/layers/probe_attention.h"
#include "support/closeness.h"
#include "support/differences.h"
#include "support/layer_weights.h"
#include "support/numeric_gradient.h"

namespace clearformer::test {
namespace {

std::vector<float> flat(const Tensor& x) { return {x.f32(), x.f32() + x.elements()}; }

double dot(const Tensor& a, const Tensor& b) { return weighted_sum(doubles_of(a), doubles_of(b)); }

TEST(LayersBackward, OfImageEmbeddingsReachPixelsTokensPositionsAndNorm) {
  for (const bool resized : {false, true}) {
    ImageEmbeddingConfig config;
    config.patch = {2, 2, 2, 6, Bias::present, Remainder::refuse};
    config.image_height = config.image_width = 6;
    config.distillation_token = true;
    config.registers = 2;
    config.norm = NormConfig{NormKind::layer, {6}};
    config.other_sizes = OtherSizes::antialias;
    LayerWeights weights;
    weights.add("patch_embed.weight", {6, 2, 2, 2});
    weights.add("patch_embed.bias", {6});
    weights.add("cls_token", {1, 1, 6});
    weights.add("distillation_token", {1, 1, 6});
    weights.add("register_tokens", {1, 2, 6});
    weights.add("pos_embed", {1, 11, 6});
    weights.add("embed.ln.weight", {6});
    weights.add("embed.ln.bias", {6});
    const ImageEmbedding layer(weights.scope(), config);
    weights.check();
    const auto parameters = weights.take_parameters();
    Tensor images = Random(3).tensor({2, 2, resized ? 4u : 6u, 6});
    const Shape shape = layer.output_shape(images.shape(), true);
    const Tensor d = Random(4).tensor(shape);
    Arena arena;
    const auto loss = [&] {
      Tensor x(shape);
      layer.forward(images, x, {arena, TraceScope()});
      return dot(x, d);
    };
    Differentiated pass(parameters);
    const Context context{arena, TraceScope(&pass.trace)};
    Tensor x(shape), dx = d.clone(), d_images(images.shape());
    layer.forward(images, x, context);
    layer.backward(images, dx, d_images, context);
    expect_slopes("images", images, flat(d_images), loss);
    expect_weight_slopes(parameters, pass.gradient.weights(), loss);
  }
}

TEST(LayersBackward, OfAudioEmbeddingsReachFramesConvolutionsAndPositions) {
  LayerWeights weights;
  weights.add("conv1.weight", {5, 3, 3});
  weights.add("conv1.bias", {5});
  weights.add("conv2.weight", {5, 5, 3});
  weights.add("conv2.bias", {5});
  weights.add("pos_embed.weight", {4, 5});
  const AudioEmbedding layer(weights.scope(), {3, 4, 5});
  weights.check();
  const auto parameters = weights.take_parameters();
  Tensor mel = Random(3).tensor({2, 3, 8});
  const Tensor d = Random(4).tensor({2, 4, 5});
  Arena arena;
  const auto loss = [&] {
    Tensor x(d.shape());
    layer.forward(mel, x, {arena, TraceScope()});
    return dot(x, d);
  };
  Differentiated pass(parameters);
  const Context context{arena, TraceScope(&pass.trace)};
  Tensor x(d.shape()), dx = d.clone(), d_mel(mel.shape());
  layer.forward(mel, x, context);
  layer.backward(mel, dx, d_mel, context);
  expect_slopes("mel", mel, flat(d_mel), loss);
  expect_weight_slopes(parameters, pass.gradient.weights(), loss);
}

TEST(LayersBackward, OfProbeAttentionReachSequencesAndProbe) {
  AttentionConfig attention;
  attention.d_model = 6;
  attention.num_heads = 2;
  attention.d_head = 3;
  attention.bias = Bias::present;
  const ProbeAttentionConfig config{
      attention, {6, 5, Activation::gelu_tanh}, {NormKind::layer, {6}}};
  LayerWeights weights;
  weights.add("probe", {1, 1, 6});
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    weights.add(concat("attn.", name, ".weight"), {6, 6});
    weights.add(concat("attn.", name, ".bias"), {6});
  }
  weights.add("ln2.weight", {6});
  weights.add("ln2.bias", {6});
  weights.add("mlp.up_proj.weight", {5, 6});
  weights.add("mlp.up_proj.bias", {5});
  weights.add("mlp.down_proj.weight", {6, 5});
  weights.add("mlp.down_proj.bias", {6});
  const ProbeAttention layer(weights.scope(), config);
  weights.check();
  auto parameters = weights.take_parameters();
  // Softmax does not see a bias of the keys: its gradient is 0.
  std::erase_if(parameters,
                [](const Parameter& parameter) { return parameter.path == "attn.k_proj.bias"; });
  Tensor x = Random(3).tensor({2, 4, 6}, -2, 2);
  const Tensor d = Random(4).tensor({2, 1, 6});
  Arena arena;
  const auto loss = [&] {
    Tensor y(d.shape());
    layer.forward(x, y, {arena, TraceScope()});
    return dot(y, d);
  };
  Differentiated pass(parameters);
  const Context context{arena, TraceScope(&pass.trace)};
  Tensor y(d.shape()), dy = d.clone(), dx = Tensor::zeros(x.shape());
  layer.forward(x, y, context);
  layer.backward(x, dy, dx, context);
  expect_slopes("x", x, flat(dx), loss);
  expect_weight_slopes(parameters, pass.gradient.weights(), loss);
}

TEST(LayersBackward, OfDisentangledScoresReachContentsProjectionsAndTable) {
  RelativeTableConfig table{5, 4, 4, 8, NormConfig{NormKind::layer, {5}}};
  LayerWeights weights;
  weights.add("table.weight", {8, 5});
  weights.add("table.norm.weight", {5});
  weights.add("table.norm.bias", {5});
  for (const char* name : {"scores.pos_k_proj", "scores.pos_q_proj"}) {
    weights.add(concat(name, ".weight"), {6, 5});
    weights.add(concat(name, ".bias"), {6});
  }
  const RelativeTable relative(weights.scope() / "table", table);
  const DisentangledScores layer(weights.scope() / "scores", {true, true, false}, 5, 6);
  weights.check();
  const auto parameters = weights.take_parameters();
  Tensor queries = Random(3).tensor({2, 7, 2, 3}), keys = Random(4).tensor({2, 7, 2, 3});
  const Tensor d = Random(5).tensor({2, 2, 7, 7});
  const Linear none;
  Arena arena;
  const auto run = [&](const Context& context, const auto& use) {
    const Arena::Frame frame(arena);
    const RelativePositions positions = relative.positions(7, arena);
    const DisentangledScores::Inputs inputs{
        positions_first(queries), positions_first(keys), none, none, positions, 0.4f};
    return use(inputs, layer.biases(inputs, context));
  };
  const auto loss = [&] {
    return run({arena, TraceScope()}, [&](const auto&, const Mask& mask) {
      Tensor scores = Tensor::zeros(d.shape());
      for (std::size_t row = 0; row < 28; ++row) {
        mask.apply(row / 14, row / 7 % 2, row % 7, scores.f32() + row * 7, 7);
      }
      return dot(scores, d);
    });
  };
  Differentiated pass(parameters);
  const Context context{arena, TraceScope(&pass.trace)};
  Tensor dq = Tensor::zeros(queries.shape()), dk = Tensor::zeros(keys.shape());
  run(context, [&](const DisentangledScores::Inputs& inputs, const Mask&) {
    Tensor d_rows = Tensor::zeros(inputs.positions.rows.shape());
    layer.backward(inputs, d, {positions_first_mutable(dq), positions_first_mutable(dk), d_rows},
                   context);
    relative.backward(7, d_rows, &pass.gradient.weights(), arena);
    return 0;
  });
  expect_slopes("queries", queries, flat(dq), loss);
  expect_slopes("keys", keys, flat(dk), loss);
  expect_weight_slopes(parameters, pass.gradient.weights(), loss);
}

}  // namespace
}  // namespace clearformer::test
