// Edits by row, key position and feature; noise, projections and limits, each against a plain loop.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "clearformer/layers/noise.h"
#include "support/edited.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

using Op = Edit::Op;
using At = std::vector<std::size_t>;
constexpr const char* kResidual = "batch pos d_model";
constexpr const char* kMaps = "batch head query_pos key_pos";

TEST(EditOps, SelectByRowKeyPositionAndFeature) {
  expect_changed(
      edited({.hook = {}, .rows = {-1}, .features = {0, -2}}, {3, 2, 4}, kResidual),
      [](const At& at, float x) { return at[0] == 2 && (at[2] == 0 || at[2] == 2) ? 0.0f : x; });
  // Keys count from the beginning also where queries are behind a cache.
  expect_changed(edited({.hook = {}, .heads = {1}, .positions = {6}, .key_positions = {0, -1}},
                        {2, 2, 3, 8}, kMaps, 5),
                 [](const At& at, float x) {
                   return at[1] == 1 && at[2] == 1 && (at[3] == 0 || at[3] == 7) ? 0.0f : x;
                 });
  // A value is broadcast to all that is selected: here [row, position, feature] = [2, 1, 2].
  expect_changed(edited({.hook = {},
                         .op = Op::replace,
                         .rows = {2, 0},
                         .positions = {1},
                         .features = {3, 1},
                         .value = numbers({2, 1, 2}, {10, 20, 30, 40})},
                        {3, 2, 4}, kResidual),
                 [](const At& at, float x) {
                   if (at[1] != 1 || at[0] == 1 || at[2] % 2 == 0) return x;
                   return (at[0] == 2 ? 10.0f : 30.0f) + (at[2] == 3 ? 0.0f : 10.0f);
                 });
}

TEST(EditOps, RowsOfAGenerationAreThePromptsWithAllTheirBeams) {
  // Two prompts of three beams each, position 7; a value for each prompt, and one for each listed position.
  const auto step = [](Edit edit) {
    return edited_tensor(counted({6, 1, 2}), std::move(edit), kResidual, 7, 2);
  };
  expect_changed(step({.hook = {},
                       .op = Op::add,
                       .positions = {2, 7},
                       .value = numbers({2, 2, 1}, {1, 100, 2, 200})}),
                 [](const At& at, float x) { return x + (at[0] < 3 ? 100.0f : 200.0f); });
  expect_changed(step({.hook = {}, .rows = {1}}),
                 [](const At& at, float x) { return at[0] < 3 ? x : 0.0f; });
  expect_error(ErrorCode::invalid_argument, {"row 2", "the 2 of"},
               [&] { step({.hook = {}, .rows = {2}}); });
}

TEST(EditOps, ClampLimitsBelowAboveAndByFeature) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor low = numbers({3}, {4, -1, 0}), high = numbers({}, {7});
  Edit edit{.hook = {}, .op = Op::clamp};
  edit.min = low.clone();
  edit.max = high.clone();
  expect_changed(edited(std::move(edit), {1, 3, 3}, kResidual), [&](const At& at, float x) {
    return std::min(std::max(x, low.f32()[at[2]]), 7.0f);
  });
  Edit below{.hook = {}, .op = Op::clamp, .positions = {0}};
  below.min = numbers({}, {2});
  const Tensor found =
      edited_tensor(numbers({1, 2, 2}, {1, nan, 1, 3}), std::move(below), kResidual);
  EXPECT_EQ(found.f32()[0], 2.0f);
  EXPECT_TRUE(std::isnan(found.f32()[1]));
  EXPECT_EQ(found.f32()[2], 1.0f);
}

TEST(EditOps, ProjectOutRemovesTheSpanOfItsDirections) {
  // The third direction is in the span of the others.
  const std::vector<std::vector<double>> directions = {
      {1, 2, 0, -1, 0.5}, {0, 1, 1, 1, 3}, {1, 3, 1, 0, 3.5}};
  Tensor value({3, 5});
  for (std::size_t i = 0; i < 15; ++i)
    value.f32()[i] = static_cast<float>(directions[i / 5][i % 5]);
  const Shape shape{2, 3, 5};
  const Tensor before = counted(shape);
  const Tensor found =
      edited({.hook = {}, .op = Op::project_out, .positions = {0, 2}, .value = std::move(value)},
             shape, kResidual);
  // The normal equations of two directions, solved by hand: c = (D Dᵀ)⁻¹ D x.
  const auto product = [](const std::vector<double>& a, const auto* b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 5; ++i) sum += a[i] * static_cast<double>(b[i]);
    return sum;
  };
  const auto &d = directions[0], &e = directions[1];
  const double dd = product(d, d.data()), de = product(d, e.data()), ee = product(e, e.data());
  for (std::size_t row = 0; row < 6; ++row) {
    const float *was = before.f32() + row * 5, *is = found.f32() + row * 5;
    const double dx = product(d, was), ex = product(e, was), scale = dd * ee - de * de;
    const double c = (ee * dx - de * ex) / scale, f = (dd * ex - de * dx) / scale;
    for (std::size_t i = 0; i < 5; ++i) {
      const double kept = row % 3 == 1 ? was[i] : was[i] - c * d[i] - f * e[i];
      EXPECT_NEAR(is[i], kept, 0x1p-23 * was[i] + 1e-12) << row << ", " << i;
    }
  }
}

TEST(EditOps, ProjectOutOfSelectedFeaturesLeavesTheOthers) {
  const Tensor found =
      edited({.hook = {}, .op = Op::project_out, .features = {2, 0}, .value = numbers({2}, {0, 3})},
             {1, 2, 3}, kResidual);
  expect_same_bits("edited", found, numbers({1, 2, 3}, {0, 2, 3, 0, 5, 6}));
}

TEST(EditOps, NoiseIsThatOfItsSeedRowPositionAndFeatureAlone) {
  const auto noisy = [](const Shape& shape, std::vector<std::int64_t> rows, std::size_t past,
                        std::uint64_t seed = 7) {
    Edit edit{.hook = {}, .op = Op::noise, .rows = std::move(rows), .value = numbers({}, {0.5f})};
    edit.seed = seed;
    Tensor zeros(shape);
    std::fill_n(zeros.f32(), zeros.elements(), 0.0f);
    return edited_tensor(std::move(zeros), std::move(edit), kResidual, past);
  };
  const Tensor whole = noisy({2, 4, 3}, {}, 0);
  for (std::size_t i = 0; i < whole.elements(); ++i) {
    const NoiseKey key = NoiseKey(7, "hook").with(i / 12).with(i / 3 % 4).with(i % 3);
    EXPECT_EQ(whole.f32()[i], 0.5f * static_cast<float>(key.normal())) << i;
  }
  // A row that another batch holds in another place, and a position behind a cache.
  const Tensor third = noisy({3, 4, 3}, {2}, 0), last = noisy({2, 1, 3}, {}, 3);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(third.f32()[24 + i], whole.f32()[i]) << i;
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(third.f32()[i], 0.0f) << i;
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(last.f32()[i], whole.f32()[i / 3 * 12 + 9 + i % 3]) << i;
  }
  EXPECT_NE(noisy({2, 4, 3}, {}, 0, 8).f32()[0], whole.f32()[0]);
}

// The same numbers are in tests/web/edit_ops.test.ts: noise has the same bits natively and in both WebAssembly builds.
TEST(EditOps, NoiseHasTheseBits) {
  const std::uint64_t expected[] = {0x3ff7996e6f8549e6, 0xbfe0b80111cbf13a, 0x4002f7d0a3587a52};
  for (std::uint64_t i = 0; i < 3; ++i) {
    const double drawn = NoiseKey(42, "hook_embed").with(0).with(i).with(63).normal();
    std::uint64_t bits = 0;
    std::memcpy(&bits, &drawn, sizeof bits);
    EXPECT_EQ(bits, expected[i]) << std::hex << bits << " " << drawn;
  }
}

TEST(EditOps, NoiseIsNormal) {
  // Of n = 200,000 draws: mean, variance and excess kurtosis within five standard errors √(1/n), √(2/n), √(24/n), and
  // the share below each quantile within 0.005, five standard errors of a share of ½.
  constexpr int kDraws = 200'000;
  double sums[4] = {};
  std::map<double, int> below = {{-2.0, 0}, {-1.0, 0}, {0.0, 0}, {0.5, 0}, {1.5, 0}, {3.0, 0}};
  const NoiseKey key(1, "hook");
  for (int i = 0; i < kDraws; ++i) {
    const double x = key.with(static_cast<std::uint64_t>(i)).normal();
    for (int power = 0; power < 4; ++power) sums[power] += std::pow(x, power + 1);
    for (auto& [quantile, count] : below) count += x < quantile ? 1 : 0;
  }
  const double n = kDraws, mean = sums[0] / n, variance = sums[1] / n;
  EXPECT_NEAR(mean, 0.0, 5.0 * std::sqrt(1.0 / n));
  EXPECT_NEAR(variance, 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(sums[3] / n / (variance * variance), 3.0, 5.0 * std::sqrt(24.0 / n));
  for (const auto& [quantile, count] : below) {
    EXPECT_NEAR(count / n, 0.5 * std::erfc(-quantile / std::sqrt(2.0)), 0.005) << quantile;
  }
}

TEST(EditOps, RefuseValuesWithoutMeaning) {
  const auto refused = [](Edit edit, std::vector<std::string> parts,
                          ErrorCode code = ErrorCode::invalid_argument) {
    expect_error(code, parts, [&] { edited(std::move(edit), {1, 2, 3}, kResidual); });
  };
  for (const int op : {-1, 8}) {
    refused({.hook = {}, .op = static_cast<Op>(op)}, {"there is no op", "at hook"});
  }
  refused({.hook = {}, .op = Op::clamp}, {"clamp at hook", "needs a min or a max"});
  refused({.hook = {}, .op = Op::clamp, .value = numbers({}, {1})}, {"takes no value"});
  Edit limited{.hook = {}, .op = Op::zero};
  limited.min = numbers({}, {1});
  refused(std::move(limited), {"zero at hook", "takes no min"});
  Edit unlimited{.hook = {}, .op = Op::clamp};
  unlimited.max = numbers({2}, {1, std::nanf("")});
  refused(std::move(unlimited), {"clamp at hook", "a limit is NaN"});
  Edit seeded{.hook = {}, .op = Op::zero};
  seeded.seed = 3;
  refused(std::move(seeded), {"takes no seed"});
  refused({.hook = {}, .op = Op::noise}, {"needs a value"});
  refused({.hook = {}, .op = Op::noise, .value = numbers({2}, {1, -1})}, {"at least 0"});
  refused({.hook = {}, .op = Op::project_out}, {"needs a value"});
  refused({.hook = {}, .op = Op::project_out, .value = numbers({2, 3}, {1, 2, 3, 0, 0, 0})},
          {"a direction is 0"});
  refused({.hook = {}, .op = Op::project_out, .value = numbers({1, 1, 3}, {1, 2, 3})},
          {"[direction, feature]"});
  refused({.hook = {}, .op = Op::project_out, .value = numbers({2}, {1, 2})},
          {"[2]", "vectors of 3 features"}, ErrorCode::shape_mismatch);
  expect_error(ErrorCode::invalid_argument, {"no axis of features"}, [] {
    edited({.hook = {}, .op = Op::project_out, .value = numbers({2}, {1, 2})}, {1, 1, 2, 2}, kMaps);
  });
}

}  // namespace
}  // namespace clearformer::test
