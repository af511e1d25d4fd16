#include "clearformer/layers/masking.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kBatch = 2, kHeads = 3, kQueries = 4, kKeys = 5;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::size_t kFull[] = {kBatch, kHeads, kQueries, kKeys};

using Index = std::array<std::size_t, 4>;  // b, h, t, s
using Visible = std::function<bool(const Index&)>;
using Added = std::function<float(const Index&)>;

void for_each_index(const std::function<void(const Index&)>& visit) {
  for (std::size_t b = 0; b < kBatch; ++b) {
    for (std::size_t h = 0; h < kHeads; ++h) {
      for (std::size_t t = 0; t < kQueries; ++t) {
        for (std::size_t s = 0; s < kKeys; ++s) visit({b, h, t, s});
      }
    }
  }
}

// Applies the mask to every row of scores and compares with the matrix given by `visible` and `added`.
void expect_mask(const Mask& mask, const Visible& visible, const Added& added = nullptr,
                 Place place = Place::here()) {
  mask.check("test", kBatch, kHeads, kQueries, kKeys);
  std::vector<float> actual, expected;
  for_each_index([&](const Index& at) {
    if (at[3] == 0) {
      float row[kKeys];
      for (std::size_t s = 0; s < kKeys; ++s) row[s] = 0.5f + static_cast<float>(s);
      mask.apply(at[0], at[1], at[2], row, kKeys);
      actual.insert(actual.end(), row, row + kKeys);
    }
    const float score = 0.5f + static_cast<float>(at[3]) + (added ? added(at) : 0.0f);
    expected.push_back(!visible || visible(at) ? score : kMinusInfinity);
  });
  expect_same_bits("masked scores", actual, expected, place);
}

// Every shape that broadcasts to (B, H, T, S): ranks 0 to 4, each axis full or 1.
std::vector<Shape> broadcasting_shapes() {
  std::vector<Shape> shapes;
  for (std::size_t rank = 0; rank <= 4; ++rank) {
    for (unsigned ones = 0; ones < 1u << rank; ++ones) {
      Shape shape;
      for (std::size_t axis = 0; axis < rank; ++axis) {
        shape.append((ones >> axis & 1) != 0 ? 1 : kFull[4 - rank + axis]);
      }
      shapes.push_back(shape);
    }
  }
  return shapes;
}

// The offset of (b, h, t, s) in a tensor of that shape, by the definition of broadcasting.
std::size_t offset(const Shape& shape, const Index& at) {
  std::size_t place = 0;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const std::size_t index = at[4 - shape.rank() + axis];
    place = place * shape[axis] + (shape[axis] == 1 ? 0 : index);
  }
  return place;
}

Tensor flags(const Shape& shape, std::uint64_t seed = 1) {
  Random random(seed);
  Tensor tensor(shape, DType::u8);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    tensor.mutable_view().as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random.below(3));
  }
  return tensor;
}

Tensor lengths(const Shape& shape, const std::vector<std::int32_t>& values) {
  Tensor tensor(shape, DType::i32);
  std::copy(values.begin(), values.end(), tensor.mutable_view().as<std::int32_t>());
  return tensor;
}

Visible where(const Tensor& tensor, bool set) {
  return [&tensor, set](const Index& at) {
    return (tensor.view().as<std::uint8_t>()[offset(tensor.shape(), at)] != 0) == set;
  };
}

TEST(Mask, WithoutTermsNothingChanges) { expect_mask(Mask(), nullptr); }

TEST(Mask, AllowAndIgnoreBroadcastFromEveryShape) {
  const auto shapes = broadcasting_shapes();
  ASSERT_EQ(shapes.size(), 31u);
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.text());
    const Tensor set = flags(shape);
    expect_mask(Mask::allow(set.clone()), where(set, true));
    expect_mask(Mask::ignore(set.clone()), where(set, false));
  }
}

TEST(Mask, AdditiveBroadcastsFromEveryShape) {
  for (const Shape& shape : broadcasting_shapes()) {
    SCOPED_TRACE(shape.text());
    const Tensor values = Random(2).tensor(shape, -4, 4);
    expect_mask(Mask::additive(values.clone()), nullptr,
                [&](const Index& at) { return values.f32()[offset(shape, at)]; });
  }
}

TEST(Mask, AdditiveMinusInfinityHides) {
  Tensor values = Tensor::zeros({kKeys});
  values.f32()[2] = kMinusInfinity;
  expect_mask(Mask::additive(std::move(values)), [](const Index& at) { return at[3] != 2; });
}

TEST(Mask, CausalShowsThePastAndTheQueryItself) {
  for (std::size_t past = 0; past <= kKeys; ++past) {
    const Mask mask = Mask::causal(past);
    expect_mask(mask, [past](const Index& at) { return at[3] <= at[2] + past; });
    for (std::size_t query = 0; query < kQueries; ++query) {
      EXPECT_EQ(mask.key_limit(query, kKeys), std::min(kKeys, query + past + 1));
    }
  }
  EXPECT_EQ(Mask().key_limit(0, kKeys), kKeys);
}

TEST(Mask, ValidLengthsCountPerSequenceOrPerQuery) {
  expect_mask(Mask::valid_lens(lengths({kBatch}, {3, 0})),
              [](const Index& at) { return at[3] < (at[0] == 0 ? 3u : 0u); });
  const std::vector<std::int32_t> counts = {0, 1, 2, 5, 9, -1, 4, 3};
  expect_mask(Mask::valid_lens(lengths({kBatch, kQueries}, counts)), [&](const Index& at) {
    return static_cast<std::int32_t>(at[3]) < counts[at[0] * kQueries + at[2]];
  });
}

TEST(Mask, CombinationsHideWhatEitherHides) {
  const Tensor allowed = flags({kQueries, kKeys}, 3), ignored = flags({kBatch, 1, 1, kKeys}, 4);
  const Tensor bias = Random(5).tensor({kHeads, 1, kKeys});
  const std::pair<Mask, Visible> parts[] = {
      {Mask::allow(allowed.clone()), where(allowed, true)},
      {Mask::ignore(ignored.clone()), where(ignored, false)},
      {Mask::causal(1), [](const Index& at) { return at[3] <= at[2] + 1; }},
      {Mask::valid_lens(lengths({kBatch}, {4, 2})),
       [](const Index& at) { return at[3] < (at[0] == 0 ? 4u : 2u); }},
      {Mask(), [](const Index&) { return true; }}};
  for (const auto& [left, left_visible] : parts) {
    for (const auto& [right, right_visible] : parts) {
      const auto both = [&, &a = left_visible, &b = right_visible](const Index& at) {
        return a(at) && b(at);
      };
      expect_mask(left & right, both);
      expect_mask(left & right & Mask::additive(bias.clone()), both,
                  [&](const Index& at) { return bias.f32()[offset(bias.shape(), at)]; });
    }
  }
}

TEST(Mask, TwoCausalMasksKeepTheNarrowerPast) {
  expect_mask(Mask::causal(3) & Mask::causal(1),
              [](const Index& at) { return at[3] <= at[2] + 1; });
  expect_mask(Mask::causal(1) & Mask::causal(3),
              [](const Index& at) { return at[3] <= at[2] + 1; });
}

// Query t is at position t + past.
TEST(Mask, AWindowHidesWhatIsTooFarOnEitherSide) {
  for (const std::size_t past : {0u, 2u}) {
    for (const std::size_t before : {0u, 1u, 9u}) {
      for (const std::size_t after : {0u, 2u}) {
        expect_mask(Mask::window(past, before, after), [=](const Index& at) {
          const std::size_t place = at[2] + past;
          return at[3] + before >= place && at[3] <= place + after;
        });
      }
    }
  }
  expect_mask(Mask::causal(1) & Mask::window(1, 1, 3),
              [](const Index& at) { return at[3] <= at[2] + 1 && at[3] + 1 >= at[2] + 1; });
}

TEST(Mask, TwoAdditiveMasksAddUp) {
  const Tensor one = Random(6).tensor({kKeys}), two = Random(7).tensor({kQueries, 1});
  const Mask both = Mask::additive(one.clone()) & Mask::additive(two.clone());
  float row[kKeys] = {};
  both.apply(1, 2, 3, row, kKeys);
  for (std::size_t s = 0; s < kKeys; ++s) EXPECT_EQ(row[s], one.f32()[s] + two.f32()[3]);
}

TEST(Mask, ACombinationLeavesItsPartsAlone) {
  const Mask causal = Mask::causal();
  const Mask both = causal & Mask::valid_lens(lengths({kBatch}, {0, 0}));
  expect_mask(causal, [](const Index& at) { return at[3] <= at[2]; });
  expect_mask(both, [](const Index&) { return false; });
}

TEST(Mask, ShapesThatDoNotBroadcastAreRefused) {
  const Shape wrong[] = {{4}, {5, 4}, {2, 4, 5}, {3, 3, 4, 5}, {1, 1, 1, 1, 5}, {4, 1, 1, 1}, {0}};
  for (const Shape& shape : wrong) {
    const std::vector<std::string> parts = {"attention", "mask", shape.text(), "[2, 3, 4, 5]"};
    for (const Mask& mask :
         {Mask::allow(flags(shape)), Mask::ignore(flags(shape)),
          Mask::additive(Tensor::zeros(shape)), Mask::causal() & Mask::allow(flags(shape))}) {
      expect_error(ErrorCode::shape_mismatch, parts,
                   [&] { mask.check("attention", kBatch, kHeads, kQueries, kKeys); });
    }
  }
}

TEST(Mask, LengthsThatDoNotFitAreRefused) {
  for (const Shape& shape :
       {Shape{3}, Shape{1}, Shape{2, 5}, Shape{2, 1}, Shape{}, Shape{2, 4, 1}}) {
    expect_error(ErrorCode::shape_mismatch, {"attention", "valid_lens", shape.text(), "[2, 4]"},
                 [&] {
                   Mask::valid_lens(Tensor::zeros(shape, DType::i32))
                       .check("attention", kBatch, kHeads, kQueries, kKeys);
                 });
  }
}

TEST(Mask, WrongElementTypesAreRefused) {
  expect_error(ErrorCode::dtype_mismatch, {"mask", "float32", "uint8"},
               [] { Mask::allow(Tensor::zeros({5})); });
  expect_error(ErrorCode::dtype_mismatch, {"mask", "int32", "uint8"},
               [] { Mask::ignore(Tensor::zeros({5}, DType::i32)); });
  expect_error(ErrorCode::dtype_mismatch, {"mask", "uint8", "float32"},
               [] { Mask::additive(Tensor::zeros({5}, DType::u8)); });
  expect_error(ErrorCode::dtype_mismatch, {"mask", "float32", "int32"},
               [] { Mask::valid_lens(Tensor::zeros({2})); });
}

TEST(Mask, WindowsAreAsWideAsAnyNumber) {
  for (const std::size_t wide : {std::size_t{1} << 31, std::numeric_limits<std::size_t>::max() / 2,
                                 std::numeric_limits<std::size_t>::max()}) {
    expect_mask(Mask::causal(wide), nullptr);
    expect_mask(Mask::window(0, wide, wide), nullptr);
    expect_mask(Mask::window(wide, wide, 0), [](const Index& at) { return at[3] >= at[2]; });
    expect_mask(Mask::window(0, 0, wide), [](const Index& at) { return at[3] >= at[2]; });
  }
}

}  // namespace
}  // namespace clearformer::test
