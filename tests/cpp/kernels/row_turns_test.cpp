#include "clearformer/kernels/row_turns.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
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

TEST(RowTurns, AreTriedForLongEnough) {
  std::set<std::size_t> tried;
  constexpr double kSeconds = 1e-3;
  // As many products as fill the time of each are not enough, since they are not tried in order.
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

// All products of a row have the same bits, whatever is tried.
void expect_same_row(MatrixFormat format) {
  Random random(7);
  constexpr std::size_t kInputs = 520, kOutputs = 1030;  // of a part of a block and of a panel
  const Tensor weight = random.tensor({kOutputs, kInputs}), x = random.tensor({1, kInputs});
  const kernels::PackedMatrix matrix(Matrix::of(weight, format));
  ASSERT_GE(matrix.bytes(), kBytes);
  std::vector<float> first(kOutputs), again(kOutputs);
  matrix.multiply(x.f32(), first.data(), 1, {});
  for (int i = 0; i < 16; ++i) {
    matrix.multiply(x.f32(), again.data(), 1, {});
    ASSERT_EQ(std::memcmp(first.data(), again.data(), kOutputs * sizeof(float)), 0)
        << to_string(format);
  }
}

TEST(RowTurns, ChangeNoBitOfHalves) { expect_same_row(MatrixFormat::f16); }

TEST(RowTurns, ChangeNoBitOfIntegers) {
  SKIP_WHERE_INTEGER_PRODUCTS_ARE_WRONG();
  for (const MatrixFormat format : {MatrixFormat::q8, MatrixFormat::q8_fine, MatrixFormat::q4}) {
    expect_same_row(format);
  }
}

}  // namespace
}  // namespace clearformer::test
