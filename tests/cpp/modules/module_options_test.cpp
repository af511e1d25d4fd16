// What single options and shapes decide: cases made by hand, compared with modules that need neither.

#include <gtest/gtest.h>

#include <algorithm>

#include "clearformer/modules/module.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

using Named = std::vector<std::pair<std::string, const Tensor*>>;

std::unique_ptr<Module> make(const char* kind, const char* options, const Named& state_dict) {
  Weights weights;
  for (const auto& [name, tensor] : state_dict) weights.add(name, "state_dict", tensor->clone());
  const ConfigReader reader(options, kind, ErrorCode::invalid_argument);
  return Module::make(kind, reader, std::move(weights));
}

Tensor output_of(Module& module, const Named& tensors) {
  Module::Inputs inputs;
  for (const auto& [name, tensor] : tensors) inputs.tensors.emplace(name, tensor->view());
  return module.forward(inputs, nullptr);
}

void expect_refused(Module& module, const Named& tensors, const std::vector<std::string>& parts,
                    Place place = Place::here()) {
  expect_error(ErrorCode::shape_mismatch, parts, [&] { output_of(module, tensors); }, place);
}

// The rows of x (…, n) with more features: `fill` of each row.
Tensor widened(const Tensor& x, std::size_t features, float fill) {
  Shape shape = x.shape();
  const std::size_t own = shape.back(0), rows = x.elements() / own;
  shape[shape.rank() - 1] = features;
  Tensor wide(shape);
  std::fill_n(wide.f32(), wide.elements(), fill);
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(x.f32() + row * own, own, wide.f32() + row * features);
  }
  return wide;
}

// Keys or values of another size: the projections have names of their own. The same with all stacked, whose columns for
// the features that are not there are zeros.
TEST(ModuleOptions, OneOtherSizeOfKeysOrValuesIsEnoughForSeparateProjections) {
  Random random(3);
  for (const bool keys : {true, false}) {
    const std::size_t kdim = keys ? 3 : 4, vdim = keys ? 4 : 3;
    const Tensor q = random.tensor({4, 4}), k = random.tensor({4, kdim});
    const Tensor v = random.tensor({4, vdim}), o = random.tensor({4, 4});
    const auto separate =
        make("nn.MultiheadAttention",
             keys ? R"({"embed_dim": 4, "num_heads": 2, "bias": false, "kdim": 3})"
                  : R"({"embed_dim": 4, "num_heads": 2, "bias": false, "vdim": 3})",
             {{"q_proj_weight", &q},
              {"k_proj_weight", &k},
              {"v_proj_weight", &v},
              {"out_proj.weight", &o}});
    Tensor stacked({12, 4});
    float* to = stacked.f32();
    for (const Tensor& part : {q.clone(), widened(k, 4, 0.0f), widened(v, 4, 0.0f)}) {
      to = std::copy_n(part.f32(), 16, to);
    }
    const auto whole =
        make("nn.MultiheadAttention", R"({"embed_dim": 4, "num_heads": 2, "bias": false})",
             {{"in_proj_weight", &stacked}, {"out_proj.weight", &o}});
    const Tensor query = random.tensor({2, 5, 4}), key = random.tensor({2, 6, kdim});
    const Tensor value = random.tensor({2, 6, vdim});
    const Tensor wide_key = widened(key, 4, 7.0f), wide_value = widened(value, 4, 7.0f);
    expect_close(keys ? "kdim" : "vdim",
                 output_of(*separate, {{"query", &query}, {"key", &key}, {"value", &value}}),
                 output_of(*whole, {{"query", &query}, {"key", &wide_key}, {"value", &wide_value}}),
                 Bound{gamma(64.0), gamma(64.0)});
  }
}

TEST(ModuleOptions, ATransformerHasSixLayersOfEachKindByDefault) {
  std::vector<MatrixRequest> requests;
  const ConfigReader options(R"({"d_model": 4, "nhead": 2, "dim_feedforward": 6})",
                             "nn.Transformer");
  Module::make("nn.Transformer", options, Weights::recording(requests));
  std::size_t encoder = 0, decoder = 0;
  for (const MatrixRequest& request : requests) {
    encoder += request.stored.ends_with("linear1.weight") && request.stored.starts_with("encoder.");
    decoder += request.stored.ends_with("linear1.weight") && request.stored.starts_with("decoder.");
  }
  EXPECT_EQ(encoder, 6u);
  EXPECT_EQ(decoder, 6u);
}

// The norm behind a stack is the one given, whatever those of the blocks are.
TEST(ModuleOptions, AStackHasTheNormThatItIsGiven) {
  Random random(5);
  const Tensor matrix = random.tensor({4, 4}), in = random.tensor({12, 4});
  const Tensor up = random.tensor({6, 4}), down = random.tensor({4, 6});
  const Tensor scale = random.tensor({4}), shift = random.tensor({4}), last = random.tensor({4});
  const Named blocks = {
      {"layers.0.self_attn.in_proj_weight", &in}, {"layers.0.self_attn.out_proj.weight", &matrix},
      {"layers.0.linear1.weight", &up},           {"layers.0.linear2.weight", &down},
      {"layers.0.norm1.weight", &scale},          {"layers.0.norm2.weight", &shift}};
  const std::string common =
      R"({"d_model": 4, "nhead": 2, "dim_feedforward": 6, "bias": false, "num_layers": 1)";
  const auto plain = make("nn.TransformerEncoder", (common + "}").c_str(), blocks);
  const Tensor src = random.tensor({2, 3, 4});
  const Tensor before = output_of(*plain, {{"src", &src}});
  for (const std::string kind : {"nn.RMSNorm", "nn.LayerNorm"}) {
    const std::string bias = kind == "nn.LayerNorm" ? R"(, "bias": false)" : "";
    const std::string own = R"("normalized_shape": 4, "eps": 0.25)" + bias;
    Named with = blocks;
    with.emplace_back("norm.weight", &last);
    const std::string options = common + R"(, "norm": {"kind": ")" + kind + "\", " + own + "}}";
    const auto stack = make("nn.TransformerEncoder", options.c_str(), with);
    const auto norm = make(kind.c_str(), ("{" + own + "}").c_str(), {{"weight", &last}});
    expect_same_bits(kind, output_of(*stack, {{"src", &src}}),
                     output_of(*norm, {{"input", &before}}));
  }
}

TEST(ModuleOptions, AScalarHasNoFeatures) {
  const Tensor weight = Tensor::zeros({3, 4}), bias = Tensor::zeros({3}),
               back = Tensor::zeros({3, 3});
  const Tensor scalar = Tensor::zeros({});
  const auto linear = make("nn.Linear", R"({"in_features": 4, "out_features": 3})",
                           {{"weight", &weight}, {"bias", &bias}});
  expect_refused(*linear, {{"input", &scalar}}, {"nn.Linear: a scalar has no features"});
  const auto dense = make("sentence_transformers.Dense", R"({"in_features": 4, "out_features": 3})",
                          {{"linear.weight", &weight}, {"linear.bias", &bias}});
  expect_refused(*dense, {{"input", &scalar}},
                 {"sentence_transformers.Dense: a scalar has no features"});
  const auto feed_forward =
      make("d2l.PositionWiseFFN", R"({"ffn_num_hiddens": 3, "ffn_num_outputs": 3})",
           {{"dense1.weight", &weight},
            {"dense1.bias", &bias},
            {"dense2.weight", &back},
            {"dense2.bias", &bias}});
  expect_refused(*feed_forward, {{"X", &scalar}},
                 {"d2l.PositionWiseFFN: a scalar has no features"});
}

TEST(ModuleOptions, PaddingIsARowOfTheTable) {
  const Tensor table = Tensor::zeros({3, 2});
  for (const char* row : {"3", "-4", "1.5", "\"1\""}) {
    const std::string options =
        concat(R"({"num_embeddings": 3, "embedding_dim": 2, "padding_idx": )", row, "}");
    expect_error(ErrorCode::invalid_argument, {"padding_idx", row},
                 [&] { make("nn.Embedding", options.c_str(), {{"weight", &table}}); });
  }
}

TEST(ModuleOptions, PositionsReachToMaxLen) {
  const auto by_default = make("d2l.PositionalEncoding", R"({"num_hiddens": 2})", {});
  const auto three = make("d2l.PositionalEncoding", R"({"num_hiddens": 2, "max_len": 3})", {});
  const Tensor longest = Tensor::zeros({1, 1000, 2}), longer = Tensor::zeros({1, 1001, 2});
  const Tensor fits = Tensor::zeros({5, 3, 2}), fits_not = Tensor::zeros({1, 4, 2});
  EXPECT_EQ(output_of(*by_default, {{"X", &longest}}).shape(), longest.shape());
  EXPECT_EQ(output_of(*three, {{"X", &fits}}).shape(), fits.shape());
  expect_refused(*by_default, {{"X", &longer}}, {"1001 positions", "max_len is 1000"});
  expect_refused(*three, {{"X", &fits_not}}, {"4 positions", "max_len is 3"});
}

TEST(ModuleOptions, PatchesHaveAHeightAndAWidth) {
  expect_error(ErrorCode::invalid_argument, {"patch_size", "height and width"}, [] {
    make("d2l.PatchEmbedding", R"({"patch_size": [2, 2, 2], "num_hiddens": 4})", {});
  });
}

TEST(ModuleOptions, AdditiveAttentionTakesPairsOfKeysAndValues) {
  const Tensor query = Tensor::zeros({4, 3}), key = Tensor::zeros({4, 2}),
               score = Tensor::zeros({1, 4});
  const auto attention =
      make("d2l.AdditiveAttention", R"({"num_hiddens": 4})",
           {{"W_q.weight", &query}, {"W_k.weight", &key}, {"w_v.weight", &score}});
  const Tensor queries = Tensor::zeros({2, 5, 3}), keys = Tensor::zeros({2, 6, 2});
  const auto refused = [&](const Shape& of_keys, const Shape& of_values,
                           const std::vector<std::string>& parts) {
    const Tensor k = Tensor::zeros(of_keys), v = Tensor::zeros(of_values);
    expect_refused(*attention, {{"queries", &queries}, {"keys", &k}, {"values", &v}}, parts);
  };
  const std::string pairs = "one batch, and as many keys as values";
  refused({2, 6, 2}, {2, 5, 7}, {pairs, "[2, 5, 3]", "[2, 6, 2]", "[2, 5, 7]"});
  refused({2, 6, 2}, {3, 6, 7}, {pairs});
  refused({3, 6, 2}, {3, 6, 7}, {pairs});
  refused({2, 6, 3}, {2, 6, 7}, {"keys of shape [2, 6, 3]", "[batch, length, 2]"});
  refused({2, 6, 2}, {6, 7}, {"values of shape [6, 7]", "[batch, length, features]"});
}

// Sizes that d2l.ai infers are those of the weights; of one that is missing the error names what would do.
TEST(ModuleOptions, AMissingProjectionIsNamed) {
  const Tensor key = Tensor::zeros({4, 2}), score = Tensor::zeros({1, 4});
  expect_error(ErrorCode::missing_tensor, {"\"W_q.weight\" of shape [4, 4] is missing"}, [&] {
    make("d2l.AdditiveAttention", R"({"num_hiddens": 4})",
         {{"W_k.weight", &key}, {"w_v.weight", &score}});
  });
}

}  // namespace
}  // namespace clearformer::test
