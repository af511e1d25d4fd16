#include "clearformer/weights/weights.h"

#include <gtest/gtest.h>

#include "clearformer/weights/scope.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr auto kKeep = Weights::Unexpected::keep;
constexpr auto kRefuse = Weights::Unexpected::refuse;

Weights with(const std::string& name, Tensor tensor) {
  Weights weights;
  weights.add(name, "model.safetensors", std::move(tensor));
  return weights;
}

TEST(Weights, HandsATensorOutOnceWithoutACopy) {
  Tensor tensor = Random(1).tensor({2, 3});
  const void* memory = tensor.data();
  Weights weights = with("w", std::move(tensor));
  EXPECT_TRUE(weights.contains("w"));
  EXPECT_FALSE(weights.contains("v"));
  EXPECT_EQ(weights.take({"w"}, {2, 3}).data(), memory);
  expect_error(ErrorCode::invalid_argument, {"\"w\"", "twice"},
               [&] { weights.take({"w"}, {2, 3}); });
  weights.check(kRefuse);
}

TEST(Weights, LeavesRoomToPackMatricesInPlace) {
  for (std::size_t rows = 0; rows <= 70; ++rows) {
    const Tensor tensor = Weights::allocate({rows, 5}, DType::f32);
    EXPECT_EQ(tensor.capacity() % (Weights::kRowMultiple * 5), 0u);
    EXPECT_GE(tensor.capacity(), tensor.elements());
    EXPECT_LT(tensor.capacity(), tensor.elements() + Weights::kRowMultiple * 5);
  }
  EXPECT_EQ(Weights::allocate({7}, DType::f32).capacity(), 7u);
  EXPECT_EQ(Weights::allocate({2, 7}, DType::i64).capacity(), 14u);
}

TEST(Weights, AMissingTensorIsNamedWithItsShape) {
  Weights weights;
  EXPECT_TRUE(weights.take({"model.norm.weight"}, {64}).empty());
  expect_error(ErrorCode::missing_tensor, {"\"model.norm.weight\"", "[64]", "missing"},
               [&] { weights.check(kKeep); });
}

TEST(Weights, AWrapperThatTheModelWasSavedInIsNamed) {
  for (const std::string wrapper : {"module.", "_orig_mod."}) {
    Weights weights = with(wrapper + "w", Tensor::zeros({2}));
    weights.add(wrapper + "v", "model.safetensors", Tensor::zeros({2}));
    EXPECT_TRUE(weights.take({"w"}, {2}).empty());
    expect_error(ErrorCode::missing_tensor, {"\"w\"", concat("begin with \"", wrapper)},
                 [&] { weights.check(kKeep); });
  }
  Weights weights = with("module.w", Tensor::zeros({2}));
  weights.add("v", "model.safetensors", Tensor::zeros({2}));
  EXPECT_TRUE(weights.take({"w"}, {2}).empty());
  try {
    weights.check(kKeep);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("wrapper"), std::string::npos);
  }
}

TEST(Weights, AWrongShapeIsNamedWithBothShapesAndTheFile) {
  for (const Shape& expected : {Shape{3, 2}, Shape{6}, Shape{2, 3, 1}, Shape{2, 4}}) {
    Weights weights = with("w", Tensor::zeros({2, 3}));
    EXPECT_TRUE(weights.take({"w"}, expected).empty());
    expect_error(ErrorCode::shape_mismatch,
                 {"model.safetensors", "\"w\"", "[2, 3]", expected.text()},
                 [&] { weights.check(kKeep); });
  }
}

TEST(Weights, AWrongElementTypeIsNamed) {
  Weights weights = with("w", Tensor::zeros({2}, DType::i64));
  EXPECT_TRUE(weights.take({"w"}, {2}).empty());
  expect_error(ErrorCode::dtype_mismatch, {"model.safetensors", "\"w\"", "int64", "floating-point"},
               [&] { weights.check(kKeep); });
}

TEST(Weights, AllProblemsAreListedInOneError) {
  Weights weights = with("a", Tensor::zeros({2}));
  weights.add("b", "model.safetensors", Tensor::zeros({2}, DType::i32));
  weights.add("left over", "model.safetensors", Tensor::zeros({1}));
  weights.take({"a"}, {3});
  weights.take({"b"}, {2});
  weights.take({"c"}, {4});
  expect_error(ErrorCode::shape_mismatch, {"\"a\"", "[3]", "\"b\"", "int32", "\"c\"", "missing"},
               [&] { weights.check(kKeep); });
  expect_error(ErrorCode::shape_mismatch, {"\"a\"", "\"left over\"", "unexpected"},
               [&] { weights.check(kRefuse); });
}

TEST(Weights, AnUnexpectedTensorAloneIsRefusedWhereAsked) {
  const Weights weights = with("extra", Tensor::zeros({1}));
  weights.check(kKeep);
  expect_error(ErrorCode::invalid_argument, {"\"extra\"", "unexpected"},
               [&] { weights.check(kRefuse); });
  EXPECT_EQ(weights.unused(), std::vector<std::string>{"extra"});
}

TEST(Weights, TheListOfProblemsIsBounded) {
  Weights weights;
  expect_error(ErrorCode::missing_tensor, {"\"0\"", "\"49\"", "perhaps more"}, [&] {
    for (int i = 0; i < 1000; ++i) weights.take({concat(i)}, {1});
  });
}

TEST(Weights, ANameInTwoFilesIsRefused) {
  Weights weights = with("w", Tensor::zeros({1}));
  expect_error(ErrorCode::malformed_file, {"second", "\"w\"", "model.safetensors"},
               [&] { weights.add("w", "second", Tensor::zeros({1})); });
}

TEST(Weights, StackedTensorsAreHandedOutInParts) {
  const Tensor stacked = Random(2).tensor({6, 4});
  Weights weights = with("in_proj", stacked.clone());
  for (std::size_t part = 0; part < 3; ++part) {
    const Tensor own = weights.take({"in_proj", part, 3}, {2, 4});
    expect_same_bits("part", own, TensorView(stacked.f32() + part * 8, DType::f32, Shape{2, 4}));
  }
  weights.check(kRefuse);
  expect_error(ErrorCode::invalid_argument, {"twice"},
               [&] { weights.take({"in_proj", 0, 3}, {2, 4}); });
}

// Queries first, then keys and values of fewer heads.
TEST(Weights, StackedTensorsOfSeveralSizesAreHandedOut) {
  Tensor stacked({8, 2});
  for (std::size_t i = 0; i < 16; ++i) stacked.f32()[i] = static_cast<float>(i);
  Weights weights;
  weights.add("qkv", "f", std::move(stacked));
  const Tensor query = weights.take({"qkv", 0, 0}, {4, 2});
  const Tensor key = weights.take({"qkv", 2, 0}, {2, 2}),
               value = weights.take({"qkv", 1, 0}, {2, 2});
  EXPECT_EQ(query.f32()[0], 0.0f);
  EXPECT_EQ(key.f32()[0], 8.0f);
  EXPECT_EQ(value.f32()[3], 15.0f);
  weights.check(Weights::Unexpected::refuse);
}

// Two groups, each of two rows for queries, one for keys and one for values; in either layout.
TEST(Weights, StackedTensorsAreHandedOutGroupByGroup) {
  for (const Layout layout : {Layout::out_in, Layout::in_out}) {
    Tensor stacked(layout == Layout::out_in ? Shape{8, 2} : Shape{2, 8});
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t at = layout == Layout::out_in ? i : i % 2 * 8 + i / 2;
      stacked.f32()[at] = static_cast<float>(i / 2);  // the index of the output
    }
    Weights weights = with("qkv", std::move(stacked));
    const auto outputs = [&](std::size_t part, std::size_t size) {
      const Tensor own = weights.take({"qkv", part, 0, layout, 2}, {size, 2});
      std::vector<float> rows;
      for (std::size_t row = 0; row < size; ++row) rows.push_back(own.f32()[2 * row + 1]);
      return rows;
    };
    EXPECT_EQ(outputs(0, 4), (std::vector<float>{0, 1, 4, 5}));
    EXPECT_EQ(outputs(2, 2), (std::vector<float>{2, 6}));
    EXPECT_EQ(outputs(1, 2), (std::vector<float>{3, 7}));
    weights.check(kRefuse);
  }
}

TEST(Weights, AStackedTensorWithMoreRowsThanThePartsHaveIsRefused) {
  Weights weights = with("qkv", Tensor::zeros({10, 2}));
  weights.take({"qkv", 0, 0}, {4, 2});
  for (const std::size_t part : {1u, 2u}) weights.take({"qkv", part, 0}, {2, 2});
  expect_error(ErrorCode::shape_mismatch, {"\"qkv\"", "10", "8"}, [&] { weights.check(kRefuse); });
  Weights half =
      with("gate_up", Tensor::zeros({4, 2}));  // of equal parts, of which one is not taken
  half.take({"gate_up", 1, 2}, {2, 2});
  expect_error(ErrorCode::shape_mismatch, {"\"gate_up\"", "4", "2"},
               [&] { half.check(Weights::Unexpected::keep); });
  Weights uneven = with("qkv", Tensor::zeros({9, 2}));
  uneven.take({"qkv", 0, 0, Layout::out_in, 2}, {4, 2});
  expect_error(ErrorCode::shape_mismatch, {"\"qkv\"", "[9, 2]", "[8, 2]"},
               [&] { uneven.check(kRefuse); });
}

TEST(Weights, AStackedTensorOfTheWrongSizeIsOneProblem) {
  Weights weights;
  weights.add("qkv", "f", Tensor({5, 2}));
  for (const std::size_t part : {0u, 1u, 2u}) {
    EXPECT_TRUE(weights.take({"qkv", part, 3}, {2, 2}).empty());
  }
  expect_error(ErrorCode::shape_mismatch, {"\"qkv\"", "[5, 2]", "[6, 2]"},
               [&] { weights.check(Weights::Unexpected::refuse); });
}

StoredName of_expert(std::size_t expert, std::size_t part) {
  StoredName stored{"gate_up", part, 2};
  stored.expert = expert;
  stored.experts = 3;
  return stored;
}

TEST(Weights, ExpertsOfAStackAreHandedOutOneByOne) {
  const Tensor stacked = Random(3).tensor({3, 4, 5});
  Weights weights = with("gate_up", stacked.clone());
  for (const std::size_t expert : {2u, 0u, 1u}) {
    for (const std::size_t part : {0u, 1u}) {
      const Tensor own = weights.take(of_expert(expert, part), {2, 5});
      const float* expected = stacked.f32() + (expert * 4 + part * 2) * 5;
      expect_same_bits("expert", own, TensorView(expected, DType::f32, Shape{2, 5}));
    }
  }
  weights.check(kRefuse);
  // As many numbers as there should be, in other extents.
  for (const Shape& wrong : {Shape{4, 3, 5}, Shape{12, 5}, Shape{2, 4, 5}, Shape{3, 5, 4}}) {
    Weights other = with("gate_up", Tensor::zeros(wrong));
    EXPECT_TRUE(other.take(of_expert(0, 0), {2, 5}).empty());
    expect_error(ErrorCode::shape_mismatch, {"\"gate_up\"", wrong.text(), "[3, 4, 5]"},
                 [&] { other.check(kRefuse); });
  }
  Weights none;
  none.take(of_expert(1, 1), {2, 5});
  expect_error(ErrorCode::missing_tensor, {"\"gate_up\"", "[3, 4, 5]"}, [&] { none.check(kKeep); });
  Weights few = with("gate_up", stacked.clone());
  few.take(of_expert(1, 1), {2, 5});
  expect_error(ErrorCode::shape_mismatch, {"12", "2"}, [&] { few.check(kKeep); });
}

TEST(Weights, OldNamesOfNormsAreModernized) {
  Weights weights;
  weights.add("a.LayerNorm.gamma", "f", Tensor({2}));
  weights.add("a.LayerNorm.beta", "f", Tensor({2}));
  weights.add("gamma", "f", Tensor({2}));
  weights.modernize();
  EXPECT_EQ(weights.names(),
            (std::vector<std::string>{"a.LayerNorm.bias", "a.LayerNorm.weight", "gamma"}));
  weights.add("a.LayerNorm.gamma", "f", Tensor({2}));
  expect_error(ErrorCode::malformed_file, {"a.LayerNorm.gamma", "a.LayerNorm.weight", "two names"},
               [&] { weights.modernize(); });
}

TEST(Weights, IgnoredTensorsAreNotReported) {
  Weights weights;
  weights.add("h.0.attn.bias", "f", Tensor({2}));
  weights.add("h.0.attn.weight", "f", Tensor({2}));
  weights.take({"h.0.attn.weight"}, {2});
  weights.ignore("*.attn.*");  // tensors already taken are unaffected
  EXPECT_EQ(weights.names(), std::vector<std::string>{"h.0.attn.weight"});
  weights.check(Weights::Unexpected::refuse);
}

TEST(Weights, KnowWhatTheirNamesBeginWith) {
  Weights weights = with("model.norm", Tensor::zeros({1}));
  weights.add("transformer.norm", "model.safetensors", Tensor::zeros({1}));
  for (const char* prefix : {"", "model", "model.", "model.norm", "transformer."}) {
    EXPECT_TRUE(weights.begins_with(prefix)) << prefix;
  }
  for (const char* prefix : {"a", "model.a", "model.norm.", "norm", "transformers", "z"}) {
    EXPECT_FALSE(weights.begins_with(prefix)) << prefix;
  }
}

TEST(Weights, TransposedTensorsAreTurned) {
  // (in 3, out 2 parts of 2): Conv1D's layout.
  const Tensor stored = Random(3).tensor({3, 4});
  Weights weights = with("c_attn", stored.clone());
  for (std::size_t part = 0; part < 2; ++part) {
    const Tensor own = weights.take({"c_attn", part, 2, Layout::in_out}, {2, 3});
    for (std::size_t out = 0; out < 2; ++out) {
      for (std::size_t in = 0; in < 3; ++in) {
        EXPECT_EQ(own.f32()[out * 3 + in], stored.f32()[in * 4 + part * 2 + out]);
      }
    }
  }
  weights.check(kRefuse);
}

TEST(WeightScope, WalksTheTreeOfNames) {
  Weights weights = with("model.layers.0.self_attn.q_proj.weight", Tensor::zeros({2, 2}));
  const NameMap names("blocks model.layers\nattn self_attn");
  const WeightScope root(weights, names);
  const WeightScope scope = root / "blocks.0" / "attn" / "q_proj";
  EXPECT_TRUE(scope.has("weight"));
  EXPECT_FALSE(scope.has("bias"));
  EXPECT_EQ(scope.take("weight", {2, 2}).elements(), 4u);
  EXPECT_TRUE(scope.take("bias", {2}).empty());
  expect_error(ErrorCode::missing_tensor, {"\"model.layers.0.self_attn.q_proj.bias\""},
               [&] { weights.check(kKeep); });
}

// A config with more key/value heads than the file: each part is there, together they are too many.
TEST(Weights, AStackedTensorWithFewerRowsThanThePartsHaveIsRefused) {
  Weights weights = with("qkv", Tensor::zeros({6, 2}));
  for (const std::size_t part : {0u, 1u, 2u}) {
    weights.take({"qkv", part, 0}, {part == 0 ? 4u : 2u, 2});
  }
  expect_error(ErrorCode::shape_mismatch, {"\"qkv\"", "6 outputs", "expected 8"},
               [&] { weights.check(kKeep); });
}

}  // namespace
}  // namespace clearformer::test
