#include "clearformer/tensor/memory_budget.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace clearformer::test {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

// Sets the budget during its lifetime.
class Budget {
 public:
  Budget(std::uint64_t limit, std::uint64_t (*used)()) { memory_budget() = {limit, used}; }
  ~Budget() { memory_budget() = MemoryBudget(); }
};

TEST(MemoryBudget, SumsAndProductsStopAtTheLargestNumber) {
  EXPECT_EQ(bounded_sum(3, 4), 7u);
  EXPECT_EQ(bounded_sum(kLargest, 0), kLargest);
  EXPECT_EQ(bounded_sum(0, kLargest), kLargest);
  EXPECT_EQ(bounded_sum(kLargest - 4, 4), kLargest);
  EXPECT_EQ(bounded_sum(kLargest - 4, 5), kLargest);
  EXPECT_EQ(bounded_sum(kLargest, kLargest), kLargest);
  EXPECT_EQ(bounded_product(3, 4), 12u);
  EXPECT_EQ(bounded_product(kLargest, 0), 0u);
  EXPECT_EQ(bounded_product(std::uint64_t{1} << 32, std::uint64_t{1} << 31),
            std::uint64_t{1} << 63);
  EXPECT_EQ(bounded_product(std::uint64_t{1} << 32, std::uint64_t{1} << 32), kLargest);
}

TEST(MemoryBudget, WhatIsLeftIsNeverLessThanNothing) {
  EXPECT_EQ(memory_budget().left(), std::numeric_limits<std::size_t>::max());
  const Budget budget(1000, [] { return std::uint64_t{1001}; });
  EXPECT_EQ(memory_budget().left(), 0u);
  memory_budget().limit = 1500;
  EXPECT_EQ(memory_budget().left(), 499u);
}

TEST(MemoryBudget, ARefusalSaysWhatItTakesAndWhatThereIs) {
  const Budget budget(4'294'967'296, [] { return std::uint64_t{194'967'296}; });
  expect_memory(4'100'000'000, "this takes");
  expect_error(ErrorCode::out_of_memory,
               {"this takes 6.5 GB, and 4.1 GB of 4.2 GB are left; ask for less"},
               [] { expect_memory(6'543'210'000, "this takes", "; ask for less"); });
  EXPECT_EQ(size_text(0), "0.0 MB");
  EXPECT_EQ(size_text(12'345'678), "12.3 MB");
  EXPECT_EQ(size_text(999'999'999), "999.9 MB");
  EXPECT_EQ(size_text(1'000'000'000), "1.0 GB");
}

}  // namespace
}  // namespace clearformer::test
