#include "clearformer/kernels/softmax.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/fixture.h"
#include "support/guarded.h"
#include "support/naive_kernels.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr float kPastAllScores = std::numeric_limits<float>::infinity();

// The kernel on rows of `columns` floats with gaps of `gap` floats.
std::vector<float> softmax(const std::vector<float>& x, std::size_t columns, std::size_t gap = 3,
                           std::size_t offset = 1) {
  const std::size_t rows = columns == 0 ? 0 : x.size() / columns, stride = columns + gap;
  Guarded memory(rows * stride, offset, Guarded::sentinel());
  for (std::size_t i = 0; i < x.size(); ++i)
    memory.data()[i / columns * stride + i % columns] = x[i];
  kernels::softmax(memory.data(), rows, columns, stride);
  EXPECT_TRUE(memory.intact());
  std::vector<float> result;
  const std::vector<float> values = memory.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % stride < columns) {
      result.push_back(values[i]);
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]),
                std::bit_cast<std::uint32_t>(Guarded::sentinel()))
          << "the gap behind row " << i / stride << " was written";
    }
  }
  return result;
}

// y = e / Σe with e = exp(d), d = x - max. Rounding d changes e by the fraction |d|·u; exp itself has an error
// of 4u; the n - 1 sums, the reciprocal and the product round once each. Terms whose d is
// below the range of float underflow, by at most the smallest normal number. With the largest |d|
// among the other terms, capped by that range (88):
//   |error| <= γ(2·(|d| + 4) + n + 2)·y + FLT_MIN
Bound softmax_bound(const std::vector<float>& x, std::size_t columns) {
  double spread = 0.0;
  for (std::size_t row = 0; row < x.size(); row += columns) {
    double top = -DBL_MAX;
    for (std::size_t i = 0; i < columns; ++i) top = std::max(top, double{x[row + i]});
    for (std::size_t i = 0; i < columns; ++i) {
      spread = std::max(spread, std::min(88.0, top - double{x[row + i]}));
    }
  }
  return {FLT_MIN, gamma(2.0 * (spread + 4.0) + static_cast<double>(columns) + 2.0)};
}

void expect_right(const std::string& what, const std::vector<float>& x, std::size_t columns) {
  expect_close(what, softmax(x, columns), naive::softmax(x, columns), softmax_bound(x, columns));
}

TEST(Softmax, EqualsTheNaiveTwinForAllSizes) {
  Random random(1);
  for (std::size_t columns = 1; columns <= 33; ++columns) {
    for (const float range : {1.0f, 20.0f, 100.0f}) {
      for (std::size_t rows = 1; rows <= 3; ++rows) {
        expect_right(concat(rows, " rows of ", columns, " up to ", double{range}),
                     random.list(rows * columns, -range, range), columns);
      }
    }
  }
  for (const std::size_t columns : {600u, 4097u}) {
    expect_right(concat(columns), random.list(2 * columns, -5, 5), columns);
  }
}

TEST(Softmax, NoColumnsAndNoRowsTouchNothing) {
  Guarded memory(8, 1, 5.0f);
  kernels::softmax(memory.data(), 2, 0, 4);
  kernels::softmax(memory.data(), 0, 4, 4);
  EXPECT_EQ(memory.values(), std::vector<float>(8, 5.0f));
}

TEST(Softmax, ARowOfMinusInfinityBecomesZeros) {
  for (std::size_t columns = 1; columns <= 33; ++columns) {
    EXPECT_EQ(softmax(std::vector<float>(2 * columns, -kPastAllScores), columns),
              std::vector<float>(2 * columns, 0.0f));
  }
}

TEST(Softmax, MaskedScoresAreExactlyZero) {
  Random random(2);
  for (std::size_t columns = 2; columns <= 33; ++columns) {
    std::vector<float> x = random.list(columns, -3, 3);
    for (std::size_t i = 0; i < columns; i += 2) x[i] = -kPastAllScores;
    const std::vector<float> y = softmax(x, columns);
    for (std::size_t i = 0; i < columns; i += 2) EXPECT_EQ(y[i], 0.0f);
    expect_right("with -inf", x, columns);
  }
}

// The reason why attention over all keys with a mask has the same bits as attention over the visible ones.
TEST(Softmax, MaskedScoresAtTheEndChangeNoBit) {
  Random random(3);
  for (std::size_t columns = 1; columns <= 33; ++columns) {
    const std::vector<float> x = random.list(columns, -4, 4);
    const std::vector<float> alone = softmax(x, columns);
    for (std::size_t more = 1; more <= 33; ++more) {
      std::vector<float> longer = x;
      longer.resize(columns + more, -kPastAllScores);
      std::vector<float> y = softmax(longer, longer.size());
      y.resize(columns);
      expect_same_bits(concat(columns, " and ", more, " masked"), y, alone);
    }
  }
}

TEST(Softmax, ARowHasTheSameBitsAloneAndAmongOthers) {
  Random random(4);
  const std::size_t columns = 21, rows = 5;
  const std::vector<float> x = random.list(rows * columns, -4, 4), all = softmax(x, columns);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto slice = [&](const std::vector<float>& from) {
      return std::vector<float>(from.begin() + static_cast<int>(row * columns),
                                from.begin() + static_cast<int>((row + 1) * columns));
    };
    for (std::size_t offset = 0; offset < 4; ++offset) {
      expect_same_bits("row", softmax(slice(x), columns, row, offset), slice(all));
    }
  }
}

TEST(Softmax, EqualScoresGiveExactlyOneOverN) {
  for (const float score : {0.0f, 1.0f / 3.0f, -1e30f, 1e30f, FLT_MAX, -FLT_MAX, 1e-40f}) {
    for (std::size_t columns = 1; columns <= 70; ++columns) {
      EXPECT_EQ(softmax(std::vector<float>(columns, score), columns),
                std::vector<float>(columns, 1.0f / static_cast<float>(columns)))
          << score;
    }
  }
}

TEST(Softmax, HugeScoresNeitherOverflowNorGiveNaN) {
  EXPECT_EQ(softmax({1e30f, -1e30f, 0.0f, 1e30f, -kPastAllScores}, 5),
            (std::vector<float>{0.5f, 0.0f, 0.0f, 0.5f, 0.0f}));
  EXPECT_EQ(softmax({FLT_MAX, -FLT_MAX}, 2), (std::vector<float>{1.0f, 0.0f}));
  EXPECT_EQ(softmax({-1e30f, -FLT_MAX}, 2), (std::vector<float>{1.0f, 0.0f}));
}

TEST(Softmax, ANaNIsNotHidden) {
  for (std::size_t columns = 1; columns <= 33; ++columns) {
    for (std::size_t at = 0; at < columns; ++at) {
      for (const float others : {1.0f, -kPastAllScores}) {
        std::vector<float> x(columns, others);
        x[at] = std::numeric_limits<float>::quiet_NaN();
        ASSERT_TRUE(std::isnan(softmax(x, columns)[at])) << columns << " columns, NaN at " << at;
      }
    }
  }
}

TEST(Softmax, HoldsOnTheAdversarialRows) {
  const Fixture fixture("adversarial");
  auto cases = fixture.of_op("softmax");
  cases.push_back(&fixture.at("softmax_nothing_left"));
  ASSERT_EQ(cases.size(), 10u);
  for (const Case* reference : cases) {
    const Tensor& x = reference->input("input");
    const std::vector<float> values(x.f32(), x.f32() + x.elements());
    const std::size_t columns = x.shape().back(0);
    Bound bound = softmax_bound(values, columns);
    bound.relative += kRoundoff;  // the reference is rounded to float
    const Numbers expected(reference->output("output"));
    expect_close(reference->name(), softmax(values, columns), expected.values, bound);
  }
}

}  // namespace
}  // namespace clearformer::test
