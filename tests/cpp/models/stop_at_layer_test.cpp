// A pass that ends before a layer returns the residual stream there; output layers alone compute logits from it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

std::unique_ptr<Model> tiny(const char* folder, std::optional<Task> task = std::nullopt) {
  return load_folder(fixture_path(concat("models/", folder)), "config.json", task);
}

// A full pass's capture of `hook` equals the result of a pass that stops there.
void expect_stop(Model& model, ModelInputs inputs, std::size_t layer, const std::string& hook) {
  Trace whole, stopped;
  whole.capture(hook);
  stopped.capture("*");
  model.forward(inputs, &whole);
  inputs.stop_at_layer = layer;
  const ModelOutputs outputs = model.forward(inputs, &stopped);
  ASSERT_EQ(outputs.tensors.size(), 1u);
  EXPECT_EQ(outputs.tensors[0].first, "residual");
  expect_same_bits(hook, outputs.tensors[0].second, whole.at(hook));
  const std::string next = hook.substr(0, hook.find_last_of('.') + 1);
  for (const Trace::Captured& entry : stopped.captured()) {
    EXPECT_FALSE(hook.ends_with("_pre") && entry.name.starts_with(next)) << entry.name;
  }
}

TEST(StopAtLayer, GivesTheResidualStreamOfADecoder) {
  const auto model = load_tiny("odd");
  const Tensor ids = random_ids(1, 2, 7, 97);
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  expect_stop(*model, inputs, 0, "blocks.0.hook_resid_pre");
  expect_stop(*model, inputs, 1, "blocks.1.hook_resid_pre");
  expect_stop(*model, inputs, 2, "blocks.1.hook_resid_post");
  inputs.stop_at_layer = 3;
  expect_error(ErrorCode::invalid_argument, {"stop_at_layer", "3 of 2"},
               [&] { model->forward(inputs); });
}

TEST(StopAtLayer, LeavesACacheAsItWas) {
  const auto model = load_tiny("odd");
  const Tensor ids = random_ids(1, 1, 9, 97);
  const Tensor first = columns(ids, 0, 0, 5), rest = columns(ids, 0, 5, 4);
  KeyValueCache cache = model->make_cache();
  forward(*model, first, cache);
  ModelInputs inputs;
  inputs.input_ids = rest.view();
  inputs.cache = &cache;
  inputs.stop_at_layer = 1;
  model->forward(inputs);
  EXPECT_EQ(cache.length(), 5u);
  const Tensor logits = forward(*model, rest, cache), whole = forward(*model, ids);
  EXPECT_EQ(std::memcmp(logits.data(), whole.f32() + 5 * 97, 4 * 97 * sizeof(float)), 0);
}

TEST(StopAtLayer, CountsTheLayersOfTheStackThatMakesTheOutput) {
  const auto bart = tiny("bart/odd");
  const Tensor source = random_ids(1, 1, 6, 97), target = random_ids(2, 1, 4, 97);
  ModelInputs inputs;
  inputs.input_ids = source.view();
  expect_stop(*bart, inputs, 1, "encoder.1.hook_resid_pre");
  inputs.decoder_input_ids = target.view();
  expect_stop(*bart, inputs, 1, "decoder.1.hook_resid_pre");

  const auto bert = tiny("bert/odd_base");
  ModelInputs text;
  text.input_ids = source.view();
  expect_stop(*bert, text, 1, "blocks.1.hook_resid_pre");

  const auto clip = tiny("clip/odd");
  expect_stop(*clip, text, 1, "text_model.blocks.1.hook_resid_pre");
}

void expect_unembedded(Model& model, const ModelInputs& inputs, const std::string& last,
                       const Shape& shape) {
  Trace trace;
  trace.capture(last);
  const Tensor logits = logits_of(model, inputs, &trace);
  EXPECT_EQ(logits.shape(), shape);
  expect_same_bits(last, model.unembed(trace.at(last), Model::Normalize::yes), logits);
}

TEST(Unembed, OfTheLastResidualStreamIsTheModelsLogits) {
  const Tensor ids = random_ids(1, 2, 7, 97);
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  expect_unembedded(*load_tiny("odd"), inputs, "blocks.1.hook_resid_post", {2, 7, 97});
  expect_unembedded(*tiny("gpt2/odd"), inputs, "blocks.1.hook_resid_post", {2, 7, 97});
  expect_unembedded(*tiny("modernbert_decoder/odd"), inputs, "blocks.1.hook_resid_post",
                    {2, 7, 97});  // through a head
  expect_unembedded(*tiny("bert/odd_masked_lm"), inputs, "blocks.1.hook_normalized_resid_post",
                    {2, 7, 97});
  const Tensor target = random_ids(2, 2, 4, 97);
  inputs.decoder_input_ids = target.view();
  expect_unembedded(*tiny("bart/odd"), inputs, "decoder.1.hook_normalized_resid_post", {2, 4, 97});
  expect_error(ErrorCode::unsupported, {"bert", "no output layer"}, [&] {
    tiny("bert/odd_base")->unembed(Tensor::zeros({1, 1, 30}), Model::Normalize::yes);
  });
  for (const Shape& shape : {Shape{1, 1, 31}, Shape{1, 0, 30}, Shape{0, 1, 30}, Shape{2, 30}}) {
    expect_error(ErrorCode::shape_mismatch, {shape.text(), "30"},
                 [&] { load_tiny("odd")->unembed(Tensor::zeros(shape), Model::Normalize::yes); });
  }
  expect_error(ErrorCode::dtype_mismatch, {"uint8"}, [&] {
    load_tiny("odd")->unembed(Tensor::zeros({1, 1, 30}, DType::u8), Model::Normalize::yes);
  });
}

// logit = Σ_d u[d]·(x_d − mean)/scale + b, from the captured last hidden states.
void expect_directions(Model& model, const Tensor& ids, bool centred) {
  Trace trace;
  for (const char* hook : {"blocks.1.hook_resid_post", "ln_final.hook_scale"}) trace.capture(hook);
  const Tensor logits = forward(model, ids, &trace);
  const std::vector<std::int32_t> list = {3, 0, 96};
  const Directions found = model.logit_directions(tokens(list));
  const Tensor& x = trace.at("blocks.1.hook_resid_post");
  const std::size_t width = x.dim(2);
  for (std::size_t n = 0; n < list.size(); ++n) {
    for (std::size_t row = 0; row < x.elements() / width; ++row) {
      const float* at = x.f32() + row * width;
      double mean = 0.0, sum = 0.0, size = 0.0;
      for (std::size_t d = 0; d < width && centred; ++d) mean += at[d] / static_cast<double>(width);
      const double scale = trace.at("ln_final.hook_scale").f32()[row];
      for (std::size_t d = 0; d < width; ++d) {
        const double term = found.vectors.f32()[n * width + d] * (at[d] - mean) / scale;
        sum += term;
        size += std::abs(term);
      }
      const double logit = logits.f32()[row * 97 + static_cast<std::size_t>(list[n])];
      // Rounding on both sides: a few operations per term, `width` terms.
      EXPECT_NEAR(sum + found.bias.f32()[n], logit,
                  gamma(width + 12) * (size + std::abs(logit) + 1));
    }
  }
}

TEST(LogitDirections, MakeALogitASumOverTheResidualStream) {
  const Tensor ids = random_ids(5, 1, 6, 97);
  expect_directions(*load_tiny("odd"), ids, false);
  expect_directions(*tiny("gpt2/odd"), ids, true);
  const auto phi = tiny("phi/odd");
  expect_directions(*phi, ids, true);
  expect_directions(*tiny("cohere/odd"), ids, true);    // logits are scaled
  expect_directions(*tiny("granite/odd"), ids, false);  // here, too
  expect_error(ErrorCode::invalid_argument, {"97"}, [&] { phi->logit_directions(tokens({97})); });
  expect_error(ErrorCode::unsupported, {"capped"},
               [&] { tiny("gemma2/even")->logit_directions(tokens({1})); });
  expect_error(ErrorCode::unsupported, {"an activation comes before"},
               [&] { tiny("modernbert_decoder/odd")->logit_directions(tokens({1})); });
  expect_error(ErrorCode::unsupported, {"no norm comes before"},
               [&] { tiny("bart/odd")->logit_directions(tokens({1})); });
}

void expect_head_directions(Model& model) {
  const Tensor ids = random_ids(5, 1, 6, 97);
  const AttentionConfig& attention = model.config().main().stack.block.attention;
  const std::size_t features = attention.num_heads * attention.d_head;
  const std::size_t width = model.config().d_model();
  Trace trace;
  trace.capture("blocks.1.attn.hook_z");
  trace.capture("blocks.1.hook_resid_pre");
  trace.capture("blocks.1.hook_resid_mid");
  forward(model, ids, &trace);
  const Directions logits = model.logit_directions(tokens({4, 5}));
  const Directions heads = model.head_directions(1, KeyRole::sequence, logits.vectors);
  ASSERT_EQ(heads.vectors.shape(), (Shape{2, attention.num_heads, attention.d_head}));
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t position = 0; position < 6; ++position) {
      double direct = 0.0, by_heads = heads.bias.f32()[n], size = std::abs(by_heads);
      for (std::size_t d = 0; d < width; ++d) {
        const std::size_t at = position * width + d;
        const double weight = logits.vectors.f32()[n * width + d];
        const double after = trace.at("blocks.1.hook_resid_mid").f32()[at];
        const double before = trace.at("blocks.1.hook_resid_pre").f32()[at];
        direct += weight * (after - before);
        size += std::abs(weight) * (std::abs(after) + std::abs(before));
      }
      for (std::size_t i = 0; i < features; ++i) {
        const double term = static_cast<double>(heads.vectors.f32()[n * features + i]) *
                            trace.at("blocks.1.attn.hook_z").f32()[position * features + i];
        by_heads += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(by_heads, direct, gamma(features + width + 4) * size);
    }
  }
}

TEST(HeadDirections, MakeWhatAttentionAddsASumOverHeads) {
  const auto model = tiny("gpt2/odd");
  expect_head_directions(*model);
  expect_head_directions(*tiny("granite/odd"));  // what a block adds is scaled
  const Directions logits = model->logit_directions(tokens({4, 5}));
  expect_error(ErrorCode::invalid_argument, {"layer 2 of 2"},
               [&] { model->head_directions(2, KeyRole::sequence, logits.vectors); });
  expect_error(ErrorCode::unsupported, {"no cross-attention"},
               [&] { model->head_directions(0, KeyRole::memory, logits.vectors); });
  expect_error(ErrorCode::shape_mismatch, {"[2, 31]", "30"},
               [&] { model->head_directions(0, KeyRole::sequence, Tensor::zeros({2, 31})); });
  expect_error(ErrorCode::unsupported, {"norm"}, [&] {
    tiny("gemma2/odd")->head_directions(0, KeyRole::sequence, Tensor::zeros({1, 30}));
  });
  expect_error(ErrorCode::unsupported, {"norm"}, [&] {
    tiny("olmo2/odd")->head_directions(0, KeyRole::sequence, Tensor::zeros({1, 30}));
  });
}

}  // namespace
}  // namespace clearformer::test
