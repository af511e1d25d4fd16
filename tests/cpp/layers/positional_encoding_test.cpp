// Sinusoids of every layout and size up to position 100,000, the shift matrix, distinct encodings, learned
// tables.
#include "clearformer/layers/positional_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

const Fixture& encoding_references() {
  static const Fixture fixture("positions");
  return fixture;
}

SinusoidConfig sinusoid_config_of(const Case& reference) {
  SinusoidConfig config;
  config.d_model = static_cast<std::size_t>(reference.option("num_hiddens").number());
  if (reference.options().find("base") != nullptr) config.base = reference.option("base").number();
  const Json* layout = reference.options().find("layout");
  if (layout != nullptr && layout->string() == "halves") config.layout = SinusoidLayout::halves;
  if (layout != nullptr && layout->string() == "whisper") config.layout = SinusoidLayout::whisper;
  return config;
}

// Both are a value in double rounded to float. A frequency and its product with a position have
// 4 roundings in double, so angles up to 100,000 differ by 1e5·4·2^-53 < 1e-10; if that moves a value
// across the midpoint of two floats, the rounded ones are adjacent.
constexpr Bound kTwoRoundings{1e-10, 2 * kRoundoff, 0.0};

Tensor positions_of(std::vector<std::int32_t> list) {
  Tensor positions({list.size()}, DType::i32);
  std::copy(list.begin(), list.end(), positions.mutable_view().as<std::int32_t>());
  return positions;
}

TEST(PositionalEncoding, EveryReferenceIsMetToTheLastFloat) {
  std::size_t cases = 0;
  for (const Case* reference : encoding_references().of_op("sinusoidal")) {
    SCOPED_TRACE(reference->name());
    const SinusoidConfig config = sinusoid_config_of(*reference);
    const Tensor table = sinusoidal_encoding(reference->int32_input("positions"), config);
    expect_close("table", table, reference->output("table"), kTwoRoundings);
    expect_close("to 1e-6", table, reference->output("table"), Bound{1e-6});
    ++cases;
  }
  EXPECT_EQ(cases, 24u);
}

TEST(PositionalEncoding, TheTableHoldsTheEncodingsOfConsecutivePositions) {
  for (const SinusoidLayout layout :
       {SinusoidLayout::interleaved, SinusoidLayout::halves, SinusoidLayout::whisper}) {
    const SinusoidConfig config{6, 10000.0, layout};
    expect_same_bits("offset", sinusoidal_table(-2, 4, config),
                     sinusoidal_encoding(positions_of({-2, -1, 0, 1}), config));
  }
  EXPECT_EQ(sinusoidal_table(5, 0, {6}).shape(), (Shape{0, 6}));
}

TEST(PositionalEncoding, PositionsKeepTheirShape) {
  Tensor positions = positions_of({0, 7, 3, 3, 2, 1});
  const Tensor flat = sinusoidal_encoding(positions, {5});
  positions.reshape({2, 3});
  const Tensor deep = sinusoidal_encoding(positions, {5});
  EXPECT_EQ(deep.shape(), (Shape{2, 3, 5}));
  expect_same_bits("rows", deep.view().reshaped({6, 5}), flat);
}

TEST(PositionalEncoding, HalvesHoldTheColumnsOfInterleaved) {
  for (const std::size_t d : {1, 2, 5, 8}) {
    const Tensor paper = sinusoidal_table(3, 4, {d});
    const Tensor marian = sinusoidal_table(3, 4, {d, 10000.0, SinusoidLayout::halves});
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t i = 0; i < d; ++i) {
        const std::size_t column = i % 2 == 0 ? i / 2 : (d + 1) / 2 + i / 2;
        EXPECT_EQ(paper.f32()[row * d + i], marian.f32()[row * d + column]);
      }
    }
  }
}

TEST(ShiftMatrix, EveryReferenceIsMet) {
  std::size_t cases = 0;
  for (const Case* reference : encoding_references().of_op("shift_matrix")) {
    SCOPED_TRACE(reference->name());
    const auto delta = static_cast<std::int32_t>(*reference->option("delta").integer());
    expect_close("matrix", shift_matrix(delta, sinusoid_config_of(*reference)),
                 reference->output("matrix"), kTwoRoundings);
    ++cases;
  }
  EXPECT_EQ(cases, 6u);
}

// matrix (D, D) times each row of x (T, D)
std::vector<double> moved(const Tensor& matrix, const Tensor& x) {
  std::vector<double> result;
  const std::size_t d = x.dim(1);
  for (std::size_t t = 0; t < x.dim(0); ++t) {
    for (std::size_t row = 0; row < d; ++row) {
      double sum = 0.0;
      for (std::size_t i = 0; i < d; ++i) {
        sum += static_cast<double>(matrix.f32()[row * d + i]) * x.f32()[t * d + i];
      }
      result.push_back(sum);
    }
  }
  return result;
}

// Matrix and encoding are rounded once each: γ(2)·(|cos·sin| + |sin·cos|) <= γ(2), and the reference encoding
// once more.
constexpr Bound kMoved{gamma(3) + 1e-10};

TEST(ShiftMatrix, MovesTheReferencePositions) {
  for (const Case* reference : encoding_references().of_op("shift_matrix")) {
    SCOPED_TRACE(reference->name());
    const auto delta = static_cast<std::int32_t>(*reference->option("delta").integer());
    const SinusoidConfig config = sinusoid_config_of(*reference);
    const Tensor start = sinusoidal_encoding(reference->int32_input("positions"), config);
    const Tensor& shifted = reference->output("shifted");
    const Tensor flat = Tensor::copy_of(shifted.view().reshaped({shifted.elements()}));
    expect_close("shifted", moved(shift_matrix(delta, config), start), flat, kMoved);
  }
}

TEST(ShiftMatrix, OneMatrixMovesAnyPositionInAnyLayout) {
  Random random(11);
  for (const SinusoidLayout layout :
       {SinusoidLayout::interleaved, SinusoidLayout::halves, SinusoidLayout::whisper}) {
    for (std::size_t d = 4; d <= 34; d += 10) {
      const SinusoidConfig config{d, 300.0 + 20000.0 * random.unit(), layout};
      const auto delta = static_cast<std::int32_t>(random.below(2001)) - 1000;
      std::vector<std::int32_t> from, to;
      for (std::size_t i = 0; i < 20; ++i) {
        from.push_back(static_cast<std::int32_t>(random.below(90000)) + 1000);
        to.push_back(from.back() + delta);
      }
      SCOPED_TRACE(concat("d ", d, ", delta ", delta));
      const Tensor target = sinusoidal_encoding(positions_of(to), config);
      expect_close(
          "moved",
          moved(shift_matrix(delta, config), sinusoidal_encoding(positions_of(from), config)),
          Tensor::copy_of(target.view().reshaped({target.elements()})), kMoved);
    }
  }
}

TEST(ShiftMatrix, ItsBlocksAreRotations) {
  const Tensor matrix = shift_matrix(1, {2});
  const auto sine = static_cast<float>(std::sin(1.0)), cosine = static_cast<float>(std::cos(1.0));
  expect_same_bits(
      "matrix", Tensor::copy_of(matrix.view().reshaped({4})),
      TensorView(std::vector<float>{cosine, sine, -sine, cosine}.data(), DType::f32, {4}));
  // A shift and its inverse give the identity.
  const Tensor forth = shift_matrix(17, {6}), back = shift_matrix(-17, {6});
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t column = 0; column < 6; ++column) {
      EXPECT_EQ(forth.f32()[row * 6 + column], back.f32()[column * 6 + row]);
    }
  }
}

TEST(DistinctEncodings, CountsAreTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : encoding_references().of_op("distinct_encodings")) {
    SCOPED_TRACE(reference->name());
    const auto n = static_cast<std::size_t>(reference->option("n").number());
    EXPECT_EQ(distinct_encodings(n, sinusoid_config_of(*reference)),
              static_cast<std::size_t>(reference->member("distinct").number()));
    ++cases;
  }
  EXPECT_EQ(cases, 9u);
  EXPECT_EQ(distinct_encodings(0, {2}), 0u);
}

TEST(LearnedEncoding, RowsAreTheReference) {
  std::size_t cases = 0;
  for (const Case* reference : encoding_references().of_op("learned")) {
    SCOPED_TRACE(reference->name());
    expect_same_bits(
        "embedding",
        learned_encoding(reference->input("table"), reference->int32_input("positions")),
        reference->output("embedding"));
    ++cases;
  }
  EXPECT_EQ(cases, 3u);
}

TEST(AddEncoding, AddsToEverySequence) {
  Random random(3);
  const Tensor x = random.tensor({2, 3, 5}), one = random.tensor({3, 5});
  Tensor sum = x.clone(), sum_of_three = x.clone(), sum_of_each = x.clone();
  add_encoding(sum, one);
  add_encoding(sum_of_three, one.view().reshaped({1, 3, 5}));
  add_encoding(sum_of_each, x);
  for (std::size_t i = 0; i < x.elements(); ++i) {
    EXPECT_EQ(sum.f32()[i], x.f32()[i] + one.f32()[i % 15]);
    EXPECT_EQ(sum_of_each.f32()[i], 2.0f * x.f32()[i]);
  }
  expect_same_bits("[1, 3, 5]", sum_of_three, sum);
}

TEST(PositionalEncoding, RefusalsNameTheRuleAndTheValue) {
  const auto invalid = ErrorCode::invalid_argument;
  expect_error(invalid, {"positional encoding", "dimension", "at least 1"},
               [] { sinusoidal_table(0, 3, {0}); });
  for (const double base : {0.0, -2.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    expect_error(invalid, {"positional encoding", "base"},
                 [base] { sinusoidal_table(0, 3, {4, base}); });
  }
  for (const std::size_t d : {2, 3}) {
    expect_error(invalid, {"whisper", "4 or more", std::to_string(d)},
                 [d] { sinusoidal_table(0, 3, {d, 10000.0, SinusoidLayout::whisper}); });
  }
  expect_error(invalid, {"shift_matrix", "even", "5"}, [] { shift_matrix(1, {5}); });
  expect_error(ErrorCode::dtype_mismatch, {}, [] { sinusoidal_encoding(Tensor({3}), {4}); });
  const Tensor table = Tensor::zeros({9, 5});
  for (const std::int32_t position : {-1, 9}) {
    expect_error(invalid, {"position " + std::to_string(position), "9 rows"},
                 [&] { learned_encoding(table, positions_of({0, position})); });
  }
  expect_error(ErrorCode::shape_mismatch, {"[9]", "[positions, d_model]"},
               [] { learned_encoding(Tensor::zeros({9}), positions_of({0})); });
  for (const Shape& shape :
       {Shape{5}, Shape{4, 5}, Shape{3, 4}, Shape{3, 3, 5}, Shape{2, 2, 3, 5}}) {
    expect_error(ErrorCode::shape_mismatch, {shape.text(), "[2, 3, 5]"}, [&] {
      Tensor x = Tensor::zeros({2, 3, 5});
      add_encoding(x, Tensor::zeros(shape));
    });
  }
}

}  // namespace
}  // namespace clearformer::test
