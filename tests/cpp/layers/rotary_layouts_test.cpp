// Rotary positions in both layouts, full and partial, from positions or from ONNX's caches; the
// references of the scalings are in models/rotary_config_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/rotary_embedding.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"
#include "support/rotations.h"

namespace clearformer::test {
namespace {

const Fixture& rotary_references() {
  static const Fixture fixture("rotary");
  return fixture;
}

RotaryConfig rotary_config_of(const Case& reference) {
  RotaryConfig config;
  config.d_head = reference.input("x").dim(3);
  config.rotary_dim = static_cast<std::size_t>(reference.option("rotary_dim").number());
  config.base = reference.option("base").number();
  if (reference.option("layout").string() == "interleaved") {
    config.layout = RotaryLayout::interleaved;
  }
  return config;
}

Tensor positions_of(const Shape& shape, const std::vector<std::int32_t>& list) {
  Tensor positions(shape, DType::i32);
  std::copy(list.begin(), list.end(), positions.mutable_view().as<std::int32_t>());
  return positions;
}

TEST(RotaryLayouts, EveryReferenceIsMet) {
  std::size_t cases = 0;
  for (const Case* reference : rotary_references().of_op("rotary")) {
    SCOPED_TRACE(reference->name());
    const RotaryConfig config = rotary_config_of(*reference);
    const RotaryEmbedding rotary(config);
    const Tensor& x = reference->input("x");
    const Tensor positions = reference->int32_input("positions");
    expect_close("output", rotary.forward(x, positions), reference->output("output"),
                 rotation_bounds(x, config, 1.0));
    Arena arena;
    const RotaryTable table = rotary.table(positions, arena);
    const Shape one_head{positions.dim(0), 1, positions.dim(1), config.rotary_dim / 2};
    expect_close("cos", table.cosines.reshaped(one_head), reference->output("cos"), kAngleBound);
    expect_close("sin", table.sines.reshaped(one_head), reference->output("sin"), kAngleBound);
    ++cases;
  }
  EXPECT_EQ(cases, 18u);
}

// (B, H, T, d) -> (B, T, H, d)
Tensor positions_before_heads(const Tensor& x) {
  Tensor turned({x.dim(0), x.dim(2), x.dim(1), x.dim(3)});
  const Heads from = heads_first(x);
  const MutableHeads to = positions_first_mutable(turned);
  for (std::size_t b = 0; b < from.batch; ++b) {
    for (std::size_t t = 0; t < from.length; ++t) {
      for (std::size_t h = 0; h < from.heads; ++h) {
        std::copy_n(from.row(b, t, h), from.width, to.row(b, t, h));
      }
    }
  }
  return turned;
}

TEST(RotaryLayouts, TheOrderOfAxesDoesNotMatter) {
  const Case& reference = rotary_references().at("interleaved_positions");
  const RotaryEmbedding rotary(rotary_config_of(reference));
  const Tensor positions = reference.int32_input("positions");
  Arena arena;
  Tensor x = positions_before_heads(reference.input("x"));
  RotaryEmbedding::rotate(x, rotary.table(positions, arena));
  expect_same_bits("x", x, positions_before_heads(rotary.forward(reference.input("x"), positions)));
}

class BothLayouts : public ::testing::TestWithParam<RotaryLayout> {};
INSTANTIATE_TEST_SUITE_P(RotaryLayouts, BothLayouts,
                         ::testing::Values(RotaryLayout::halves, RotaryLayout::interleaved),
                         [](const auto& layout) {
                           return std::string(layout.param == RotaryLayout::halves ? "halves"
                                                                                   : "interleaved");
                         });

TEST_P(BothLayouts, DotProductsDependOnTheDistanceAlone) {
  Random random(21);
  for (const std::size_t d : {2, 10, 64}) {
    const RotaryEmbedding rotary({d, 0, 10000.0, GetParam(), {}});
    const Tensor query = random.tensor({1, 1, 1, d}), key = random.tensor({1, 1, 1, d});
    double magnitudes = 0.0;
    for (std::size_t i = 0; i < d; ++i) magnitudes += std::abs(query.f32()[i]);
    const auto score = [&](std::int32_t at, std::int32_t distance) {
      const Tensor q = rotary.forward(query, positions_of({1}, {at + distance}));
      const Tensor k = rotary.forward(key, positions_of({1}, {at}));
      double sum = 0.0;
      for (std::size_t i = 0; i < d; ++i) sum += static_cast<double>(q.f32()[i]) * k.f32()[i];
      return sum;
    };
    // Each rotated element is off by e·(|a| + |b|), e = γ(3) and the angle's error. Those of the query
    // are multiplied by rotated keys up to 2 and vice versa: Σ 2·2·e·(|a| + |b|) = 8·e·Σ|q| for each of
    // the two scores.
    const double bound = 16.0 * (gamma(3) + 1e-10) * magnitudes;
    for (const std::int32_t distance : {0, 1, 7, 300, -5}) {
      const double near = score(10, distance);
      for (const std::int32_t at : {0, 123, 4096, 50000}) {
        EXPECT_NEAR(score(at, distance), near, bound) << "d " << d << ", at " << at;
      }
    }
  }
}

TEST_P(BothLayouts, TheSamePairsGiveTheSameBitsInBothLayouts) {
  Random random(22);
  for (const std::size_t d : {2, 6, 16, 34, 70}) {
    const Tensor x = random.tensor({2, 1, 5, d});
    const Tensor positions = positions_of({2, 5}, {0, 1, 2, 3, 4, 9, 8, 7, 6, 1000});
    const auto other =
        GetParam() == RotaryLayout::halves ? RotaryLayout::interleaved : RotaryLayout::halves;
    const RotaryEmbedding here({d, 0, 500.0, GetParam(), {}}), there({d, 0, 500.0, other, {}});
    const Tensor turned = here.forward(x, positions);
    expect_same_bits("d", to_layout(there.forward(to_layout(x, other), positions), GetParam()),
                     turned);
  }
}

TEST_P(BothLayouts, PositionZeroAndTheUnturnedPartStayBitForBit) {
  Random random(23);
  for (std::size_t d = 3; d <= 40; ++d) {
    for (std::size_t r = 2; r <= d; r += 6) {
      const RotaryEmbedding rotary({d, r, 10000.0, GetParam(), {}});
      const Tensor x = random.tensor({1, 2, 2, d});
      const Tensor turned = rotary.forward(x, positions_of({2}, {0, 5}));
      for (std::size_t i = 0; i < x.elements(); ++i) {
        const bool stays = i / d % 2 == 0 || i % d >= r;
        EXPECT_EQ(stays, turned.f32()[i] == x.f32()[i]) << "d " << d << ", r " << r << ", " << i;
      }
    }
  }
}

TEST_P(BothLayouts, ResultsDoNotDependOnThePlaceInABatch) {
  Random random(24);
  const RotaryEmbedding rotary({22, 0, 10000.0, GetParam(), {}});
  const Tensor x = random.tensor({3, 2, 4, 22});
  const Tensor batch = rotary.forward(x, positions_of({4}, {3, 1, 4, 100}));
  for (std::size_t row = 0; row < 3; ++row) {
    const std::size_t size = 2 * 4 * 22;
    const TensorView alone(x.f32() + row * size, DType::f32, {1, 2, 4, 22});
    expect_same_bits("row", TensorView(batch.f32() + row * size, DType::f32, {1, 2, 4, 22}),
                     rotary.forward(alone, positions_of({1, 4}, {3, 1, 4, 100})));
  }
}

TEST(RotaryEmbeddingOnnx, EveryReferenceIsMet) {
  const Fixture fixture("onnx_operators");
  std::size_t cases = 0;
  for (const Case* reference : fixture.of_op("RotaryEmbedding")) {
    SCOPED_TRACE(reference->name());
    const auto attribute = [&](const char* name) {
      const Json* value = reference->options().find(name);
      return value == nullptr ? 0 : static_cast<std::size_t>(value->number());
    };
    RotaryInputs inputs;
    inputs.x = reference->input("X");
    inputs.cos_cache = reference->input("cos_cache");
    inputs.sin_cache = reference->input("sin_cache");
    inputs.num_heads = attribute("num_heads");
    inputs.rotary_embedding_dim = attribute("rotary_embedding_dim");
    if (attribute("interleaved") == 1) inputs.layout = RotaryLayout::interleaved;
    Tensor ids;
    TensorView position_ids;
    if (reference->has_input("position_ids")) {
      ids = reference->int32_input("position_ids");
      position_ids = ids;
      inputs.position_ids = &position_ids;
    }
    // Two products, their sum and the rounded expectation; |cos| and |sin| <= 1.
    expect_close("Y", rotary_embedding(inputs), reference->output("Y"),
                 Bound{gamma(3) * 2.0 * largest(inputs.x)});
    ++cases;
  }
  EXPECT_EQ(cases, 10u);
}

TEST(RotaryEmbeddingOnnx, RefusalsNameTheRuleAndTheShapes) {
  const auto shape = ErrorCode::shape_mismatch;
  const Tensor four = Tensor::zeros({2, 3, 5, 8}), three = Tensor::zeros({2, 5, 24});
  const Tensor cache = Tensor::zeros({16, 4}), each = Tensor::zeros({2, 5, 4});
  const auto run = [&](TensorView x, TensorView cosines, TensorView sines, const TensorView* ids,
                       std::size_t heads = 0, std::size_t dim = 0) {
    return [=] { rotary_embedding({x, cosines, sines, ids, RotaryLayout::halves, heads, dim}); };
  };
  const Tensor ids = positions_of({2, 5}, {0, 1, 2, 3, 4, 0, 1, 16, 3, 4});
  const Tensor few = positions_of({2, 4}, {0, 1, 2, 3, 0, 1, 2, 3});
  const TensorView ids_view = ids, few_view = few;
  expect_error(ErrorCode::invalid_argument, {"position 16", "[1, 2]", "16 rows", "cos_cache"},
               run(four, cache, cache, &ids_view));
  expect_error(shape, {"rotary embedding", "[2, 4, 4]", "5 positions"},
               run(four, cache, cache, &few_view));
  expect_error(shape, {"cos_cache", "[2, 5, 4]"}, run(four, each, each, &few_view));
  expect_error(shape, {"[16, 4]", "2 sequences"}, run(four, cache, cache, nullptr));
  expect_error(shape, {"[2, 5, 24]", "num_heads"}, run(three, each, each, nullptr));
  expect_error(shape, {"[2, 5, 24]", "5 heads"}, run(three, each, each, nullptr, 5));
  expect_error(shape, {"[2, 5, 4]", "6 rotated"}, run(four, each, each, nullptr, 0, 6));
  expect_error(shape, {"cosines", "sines"}, run(four, each, Tensor::zeros({2, 5, 3}), nullptr));
  expect_error(shape, {"size 8"},
               run(four, Tensor::zeros({2, 5, 5}), Tensor::zeros({2, 5, 5}), nullptr, 0, 10));
}

TEST(RotaryLayouts, RefusalsNameTheRuleAndTheValue) {
  const auto invalid = ErrorCode::invalid_argument;
  const auto make = [](RotaryConfig config) {
    return [config] { RotaryEmbedding rotary(config); };
  };
  expect_error(invalid, {"rotary embedding", "head size 0", "are 0"}, make({}));
  expect_error(invalid, {"even", "5"}, make({5}));
  expect_error(invalid, {"even", "3"}, make({8, 3}));
  expect_error(invalid, {"head size 8", "10"}, make({8, 10}));
  expect_error(invalid, {"base", "0"}, make({8, 8, 0.0}));
  const RotaryEmbedding rotary({8});
  const Tensor x = Tensor::zeros({2, 3, 5, 8});
  expect_error(ErrorCode::shape_mismatch, {"[1, 4, 4]", "5 positions"},
               [&] { rotary.forward(x, positions_of({4}, {0, 1, 2, 3})); });
  expect_error(ErrorCode::shape_mismatch, {"[3, 5, 4]", "2 sequences"},
               [&] { rotary.forward(x, Tensor::zeros({3, 5}, DType::i32)); });
  expect_error(ErrorCode::shape_mismatch, {"positions", "[1, 1, 5]"},
               [&] { rotary.forward(x, Tensor::zeros({1, 1, 5}, DType::i32)); });
  expect_error(ErrorCode::shape_mismatch, {"[5, 8]"},
               [&] { rotary.forward(Tensor::zeros({5, 8}), Tensor::zeros({5}, DType::i32)); });
  expect_error(ErrorCode::dtype_mismatch, {}, [&] { rotary.forward(x, Tensor::zeros({2, 5})); });
}

}  // namespace
}  // namespace clearformer::test
