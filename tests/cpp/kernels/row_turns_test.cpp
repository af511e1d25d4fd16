#include "clearformer/kernels/row_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/kernels/quantized_matmul.h"
#include "support/integer_products.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

using kernels::RowTurns;

constexpr std::size_t kBytes = RowTurns::kLeastBytes;

// Seconds that a product takes by the number of its turns.
using Times = double (*)(std::size_t turns);

// The choice after as many products as it needs, at most `most`, and what was tried.
std::size_t chosen_of(Times seconds, std::set<std::size_t>& tried, std::size_t most = 10'000) {
  RowTurns choice;
  for (std::size_t i = 0; i < most && choice.chosen() == 0; ++i) {
    const std::size_t turns = choice.next(kBytes);
    tried.insert(turns);
    choice.took(turns, kBytes, seconds(turns));
  }
  EXPECT_EQ(choice.next(kBytes), choice.chosen());
  EXPECT_EQ(choice.next(1), choice.chosen());
  return choice.chosen();
}

TEST(RowTurns, AreTheFastest) {
  const std::set<std::size_t> all{1, 2, 4};
  std::set<std::size_t> tried;
  EXPECT_EQ(chosen_of([](std::size_t turns) { return turns == 1 ? 2e-4 : 3e-4; }, tried), 1u);
  EXPECT_EQ(tried, all);
  EXPECT_EQ(chosen_of([](std::size_t turns) { return turns == 2 ? 2e-4 : 3e-4; }, tried), 2u);
  EXPECT_EQ(chosen_of([](std::size_t turns) { return turns == 4 ? 2e-4 : 3e-4; }, tried), 4u);
}

TEST(RowTurns, AreTheFastestAlsoIfTheMachineStopsForAMoment) {
  // For 2^power ns: 0.13 s to 6 days, as of a computer that slept.
  for (int power = 27; power < 50; ++power) {
    for (std::size_t at = 0; at < 300; ++at) {
      RowTurns choice;
      for (std::size_t i = 0; i < 10'000 && choice.chosen() == 0; ++i) {
        const std::size_t turns = choice.next(kBytes);
        choice.took(turns, kBytes, i == at ? std::ldexp(1e-9, power) : turns == 2 ? 1.5e-4 : 2e-4);
      }
      ASSERT_EQ(choice.chosen(), 2u) << "stopped for 2^" << power << " ns at product " << at;
    }
  }
}

TEST(RowTurns, AreTriedForLongEnough) {
  constexpr double kSeconds = 1e-3;
  // One product less than three numbers of turns need.
  const auto least = static_cast<std::size_t>(3 * RowTurns::kEnough / kSeconds) - 1;
  RowTurns choice;
  for (std::size_t i = 0; i < least; ++i) choice.took(choice.next(kBytes), kBytes, kSeconds);
  EXPECT_EQ(choice.chosen(), 0u);
}

TEST(RowTurns, OfMatricesInTurnAreTriedOnEach) {
  // Of every number of matrices that a layer may have, each is tried with each number of turns.
  for (std::size_t matrices = 1; matrices <= 8; ++matrices) {
    RowTurns choice;
    std::set<std::pair<std::size_t, std::size_t>> tried;
    for (std::size_t i = 0; i < 64 * matrices; ++i) {
      tried.insert({i % matrices, choice.next(kBytes)});
    }
    EXPECT_EQ(tried.size(), 3 * matrices) << matrices << " matrices";
  }
}

TEST(RowTurns, OfSmallProductsAreNotTried) {
  RowTurns choice;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choice.next(kBytes - 1), kernels::kUsualTurns);
}

// The product of a row in every number of turns has the bits of PackedMatrix's, which its own tests compare with a
// naive one.
void expect_same_row(MatrixFormat format, kernels::PanelFormat panels) {
  Random random(7);
  constexpr std::size_t kInputs = 520, kOutputs = 1030;  // of a part of a block and of a panel
  const Tensor x = random.tensor({1, kInputs});
  const kernels::PackedMatrix matrix(Matrix::of(random.tensor({kOutputs, kInputs}), format));
  std::vector<float> expected(kOutputs), row(kOutputs);
  matrix.multiply(x.f32(), expected.data(), 1, {});

  kernels::QuantizedMatmulArgs args{{row.data(), kOutputs, 1, kOutputs, kInputs, {}}};
  args.format = panels;
  args.x = x.f32();
  args.x_stride = kInputs;
  args.panels = static_cast<const unsigned char*>(matrix.place().numbers);
  args.unlift = matrix.unlift();
  Tensor workspace({kernels::panel_workspace_bytes(panels, kInputs)}, DType::u8);
  args.workspace = workspace.data();
  std::vector<float> quantized;
  if (panels != kernels::PanelFormat::f16) {
    quantized.resize(kernels::quantized_row_bytes(panels, 1, kInputs) / sizeof(float) + 1);
    args.rows = quantized.data();
    kernels::quantize_rows(args, 0, 1);
  }
  for (args.turns = 1; args.turns <= kernels::kMostTurns; ++args.turns) {
    std::fill(row.begin(), row.end(), -1.0f);
    kernels::quantized_matmul(args);
    EXPECT_EQ(std::memcmp(expected.data(), row.data(), kOutputs * sizeof(float)), 0)
        << to_string(format) << " in " << args.turns << " turns";
  }
}

TEST(RowTurns, ChangeNoBitOfHalves) {
  expect_same_row(MatrixFormat::f16, kernels::PanelFormat::f16);
}

TEST(RowTurns, ChangeNoBitOfIntegers) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  expect_same_row(MatrixFormat::q8, kernels::PanelFormat::q8);
  expect_same_row(MatrixFormat::q8_fine, kernels::PanelFormat::q8_fine);
  expect_same_row(MatrixFormat::q4, kernels::PanelFormat::q4);
}

// Of products that are tried, too.
TEST(RowTurns, OfAMatrixAreTriedWithTheSameBits) {
  Random random(8);
  constexpr std::size_t kInputs = 520, kOutputs = 1030;
  const Tensor x = random.tensor({1, kInputs});
  const kernels::PackedMatrix matrix(
      Matrix::of(random.tensor({kOutputs, kInputs}), MatrixFormat::f16));
  ASSERT_GE(matrix.bytes(), kBytes);
  std::vector<float> first(kOutputs), again(kOutputs);
  matrix.multiply(x.f32(), first.data(), 1, {});
  for (int i = 0; i < 16; ++i) {
    matrix.multiply(x.f32(), again.data(), 1, {});
    ASSERT_EQ(first, again);
  }
}

}  // namespace
}  // namespace clearformer::test
