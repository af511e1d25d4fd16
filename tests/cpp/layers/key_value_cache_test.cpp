#include "clearformer/layers/key_value_cache.h"

#include <gtest/gtest.h>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/random.h"
#include "support/rounded_rows.h"

namespace clearformer::test {
namespace {

using StoreSizes = PackedKeyValues::Sizes;

// Keys and values (B, T, G, d) that encode their indices.
struct Positions {
  Positions(const StoreSizes& sizes, std::size_t length, std::uint64_t seed)
      : keys(Random(seed).tensor({sizes.batch, length, sizes.heads, sizes.key_dim})),
        values(Random(seed + 1).tensor({sizes.batch, length, sizes.heads, sizes.value_dim})) {}

  // Positions first … first + count - 1 of every sequence.
  static Tensor slice(const Tensor& x, std::size_t first, std::size_t count) {
    const std::size_t row = x.dim(2) * x.dim(3);
    Tensor part({x.dim(0), count, x.dim(2), x.dim(3)});
    for (std::size_t b = 0; b < x.dim(0); ++b) {
      std::copy_n(x.f32() + (b * x.dim(1) + first) * row, count * row,
                  part.f32() + b * count * row);
    }
    return part;
  }

  void append_to(PackedKeyValues& store, std::size_t first, std::size_t count) const {
    store.append(positions_first(slice(keys, first, count)),
                 positions_first(slice(values, first, count)));
  }

  Tensor keys, values;
};

// The number at `panel`, the first of a panel's row of W, and `column`, times its scale.
float number_at(const PackedKeyValues& store, const void* head, std::size_t panel,
                std::size_t column, const float* scales, std::size_t position) {
  if (store.format() == CacheFormat::f32) return static_cast<const float*>(head)[panel + column];
  if (store.format() == CacheFormat::q8) {
    const std::int8_t number = static_cast<const std::int8_t*>(head)[panel + column];
    return scales[position] * static_cast<float>(number);
  }
  const std::size_t half = kernels::panel_width() / 2;
  const std::size_t place = column < half ? 2 * column : 2 * (column - half) + 1;
  return scales[position] * float_from_f16(static_cast<const std::uint16_t*>(head)[panel + place]);
}

// Checks that every key and value is stored in the layout of the header.
void expect_stored(const PackedKeyValues& store, const Positions& given) {
  const StoreSizes& sizes = store.sizes();
  struct {
    Tensor keys, values;
  } const expected{rounded(given.keys, store.format()), rounded(given.values, store.format())};
  const std::size_t width = kernels::panel_width();
  for (std::size_t b = 0; b < sizes.batch; ++b) {
    for (std::size_t s = 0; s < store.length(); ++s) {
      for (std::size_t g = 0; g < sizes.heads; ++g) {
        const std::size_t vector = (b * expected.keys.dim(1) + s) * sizes.heads + g;
        for (std::size_t i = 0; i < sizes.key_dim; ++i) {
          ASSERT_EQ(
              number_at(store, store.keys(b, g), s / width * store.key_panel_stride() + i * width,
                        s % width, store.key_scales(b, g), s),
              expected.keys.f32()[vector * sizes.key_dim + i])
              << "key of position " << s;
        }
        for (std::size_t i = 0; i < sizes.value_dim; ++i) {
          ASSERT_EQ(number_at(store, store.values(b, g),
                              i / width * store.value_panel_stride() + s * width, i % width,
                              store.value_scales(b, g), s),
                    expected.values.f32()[vector * sizes.value_dim + i])
              << "value of position " << s;
        }
      }
    }
  }
}

const StoreSizes kStoreSizes[] = {{1, 1, 1, 1}, {2, 3, 10, 10}, {1, 2, 5, 40}, {3, 1, 33, 7}};

TEST(PackedKeyValues, KeepsPositionsAppendedInAnySteps) {
  for (const StoreSizes& sizes : kStoreSizes) {
    const Positions positions(sizes, 75, 1);
    for (const CacheFormat format : kCacheFormats) {
      for (const std::size_t step : {1u, 7u, 32u, 75u}) {
        const std::size_t capacity = PackedKeyValues::rounded(75);
        Tensor keys({PackedKeyValues::key_bytes(sizes, format, capacity)}, DType::u8);
        Tensor values({PackedKeyValues::value_bytes(sizes, format, capacity)}, DType::u8);
        PackedKeyValues store(sizes, format, capacity, keys.data(), values.data());
        for (std::size_t first = 0; first < 75; first += step) {
          positions.append_to(store, first, std::min(step, 75 - first));
        }
        EXPECT_EQ(store.length(), 75u);
        expect_stored(store, positions);
      }
    }
  }
}

// Every row has its own scale: huge rows keep their size, rows that are not finite become NaN, alone.
TEST(PackedKeyValues, RoundsEachRowByItself) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const StoreSizes sizes{1, 1, 5, 5};
  Positions positions(sizes, 9, 1);
  float* keys = positions.keys.f32();
  const float special[] = {0.0f, 1e-38f, 65504.0f, 65520.0f, 3e38f, 1e-6f};
  for (std::size_t row = 0; row < std::size(special); ++row) {
    for (std::size_t i = 0; i < 5; ++i) keys[5 * row + i] *= special[row];
  }
  keys[5 * 8] = 131071.0f;  // almost 2^17: half of it would be rounded beyond fp16
  keys[5 * 6 + 3] = kInfinity;
  keys[5 * 7 + 4] = std::numeric_limits<float>::quiet_NaN();
  for (const CacheFormat format : {CacheFormat::f16, CacheFormat::q8}) {
    KeyValueCache cache(1, 9, format);
    PackedKeyValues& store = cache.reserve(0, sizes, 9);
    positions.append_to(store, 0, 9);
    const Tensor expected = rounded(positions.keys, format);
    for (std::size_t s = 0; s < 9; ++s) {
      EXPECT_EQ(std::isnan(store.key_scales(0, 0)[s]), s == 6 || s == 7);
      for (std::size_t i = 0; i < 5; ++i) {
        const std::size_t width = kernels::panel_width();
        const float number =
            number_at(store, store.keys(0, 0), s / width * store.key_panel_stride() + i * width,
                      s % width, store.key_scales(0, 0), s);
        const float wanted = expected.f32()[5 * s + i];
        EXPECT_TRUE(number == wanted || (std::isnan(number) && std::isnan(wanted)))
            << number << ", not " << wanted;
      }
    }
  }
}

TEST(PackedKeyValues, TakesFewerBytesThanFloats) {
  const StoreSizes sizes{1, 2, 64, 64};
  const std::size_t floats = PackedKeyValues::key_bytes(sizes, CacheFormat::f32, 256);
  EXPECT_EQ(PackedKeyValues::key_bytes(sizes, CacheFormat::f16, 256), floats / 2 + 2 * 256 * 4);
  EXPECT_EQ(PackedKeyValues::value_bytes(sizes, CacheFormat::q8, 256), floats / 4 + 2 * 256 * 4);
  for (const CacheFormat format : kCacheFormats) {
    EXPECT_EQ(cache_format_named(to_string(format)), format);
  }
  EXPECT_EQ(cache_format_named("q4"), std::nullopt);
}

TEST(PackedKeyValues, RoundsToWholePanels) {
  const std::size_t width = kernels::panel_width();
  EXPECT_EQ(PackedKeyValues::rounded(0), 0u);
  EXPECT_EQ(PackedKeyValues::rounded(1), width);
  EXPECT_EQ(PackedKeyValues::rounded(width), width);
  EXPECT_EQ(PackedKeyValues::rounded(width + 1), 2 * width);
}

TEST(KeyValueCache, GrowsWithoutLosingAPosition) {
  for (const StoreSizes& sizes : kStoreSizes) {
    for (const CacheFormat format : kCacheFormats) {
      const Positions positions(sizes, 300, 3);
      KeyValueCache cache(1, 300, format);
      for (std::size_t first = 0; first < 300;) {
        const std::size_t count = std::min<std::size_t>(1 + first % 5, 300 - first);
        positions.append_to(cache.reserve(0, sizes, count), first, count);
        first += count;
      }
      EXPECT_EQ(cache.length(), 300u);
      EXPECT_EQ(cache.batch(), sizes.batch);
      expect_stored(cache.reserve(0, sizes, 0), positions);
    }
  }
}

TEST(KeyValueCache, GrowsByDoublingAndThenBySteps) {
  const StoreSizes sizes{1, 1, 4, 4};
  const Positions positions(sizes, 1000, 5);
  KeyValueCache cache(1, 1000);
  std::vector<std::size_t> capacities;
  for (std::size_t first = 0; first < 1000; ++first) {
    positions.append_to(cache.reserve(0, sizes, 1), first, 1);
    if (capacities.empty() || capacities.back() != cache.capacity()) {
      capacities.push_back(cache.capacity());
    }
  }
  EXPECT_LE(capacities.size(), 10u) << "more growths than doubling up to 256 and 3 steps take";
  for (std::size_t i = 1; i < capacities.size(); ++i) {
    EXPECT_LE(capacities[i] - capacities[i - 1], 256u + PackedKeyValues::rounded(1));
  }
  EXPECT_EQ(cache.capacity(), PackedKeyValues::rounded(1000));
  // Values are stored in panels of whole width, keys need not be.
  EXPECT_EQ(cache.bytes(), sizeof(float) * cache.capacity() * (4 + PackedKeyValues::rounded(4)));
}

TEST(KeyValueCache, CropForgetsTheEndAndTakesNewPositions) {
  const StoreSizes sizes{2, 2, 6, 6};
  const Positions positions(sizes, 60, 7);
  KeyValueCache cache(2, 100);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    positions.append_to(cache.reserve(layer, sizes, 40), 0, 40);
  }
  cache.crop(25);
  EXPECT_EQ(cache.length(), 25u);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    positions.append_to(cache.reserve(layer, sizes, 35), 25, 35);
    expect_stored(cache.reserve(layer, sizes, 0), positions);
  }
  expect_error(ErrorCode::invalid_argument, {"key/value cache", "no 61 positions", "60"},
               [&] { cache.crop(61); });
  cache.crop(0);
  EXPECT_EQ(cache.length(), 0u);
  // When empty, it accepts another batch size.
  const StoreSizes other{1, 2, 6, 6};
  for (std::size_t layer = 0; layer < 2; ++layer) {
    Positions(other, 3, 9).append_to(cache.reserve(layer, other, 3), 0, 3);
  }
  EXPECT_EQ(cache.batch(), 1u);
}

TEST(KeyValueCache, RefusesMorePositionsThanTheModelHas) {
  KeyValueCache cache(1, 10);
  const StoreSizes sizes{1, 1, 2, 2};
  Positions(sizes, 8, 1).append_to(cache.reserve(0, sizes, 8), 0, 8);
  expect_error(ErrorCode::invalid_argument, {"key/value cache", "11", "10"},
               [&] { cache.reserve(0, sizes, 3); });
  EXPECT_EQ(cache.length(), 8u);
}

TEST(KeyValueCache, RefusesAnotherBatchOrOtherHeadsOnceItHoldsSome) {
  KeyValueCache cache(1, 100);
  const StoreSizes sizes{2, 3, 4, 4};
  Positions(sizes, 5, 1).append_to(cache.reserve(0, sizes, 5), 0, 5);
  for (const StoreSizes& other : {StoreSizes{1, 3, 4, 4}, StoreSizes{2, 1, 4, 4},
                                  StoreSizes{2, 3, 5, 4}, StoreSizes{2, 3, 4, 5}}) {
    expect_error(ErrorCode::shape_mismatch, {"key/value cache", "2 sequences", "3 heads"},
                 [&] { cache.reserve(0, other, 1); });
  }
}

// The sequences `rows` of a tensor (B, …).
Tensor selected(const Tensor& x, const std::vector<std::size_t>& rows) {
  Shape shape = x.shape();
  const std::size_t size = x.elements() / shape[0];
  shape[0] = rows.size();
  Tensor chosen(shape);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(x.f32() + rows[i] * size, size, chosen.f32() + i * size);
  }
  return chosen;
}

TEST(KeyValueCache, SelectsSequencesInAllStores) {
  const std::vector<std::size_t> choices[] = {
      {0, 1, 2}, {2, 0, 1}, {1, 1, 2},   {2, 2, 2}, {0, 0, 0, 1, 1, 1, 2, 2, 2},
      {1},       {2, 0},    {0, 2, 1, 0}};
  const StoreSizes sizes{3, 2, 9, 20};
  for (std::size_t choice = 0; choice < 3 * std::size(choices); ++choice) {
    const std::vector<std::size_t>& rows = choices[choice / 3];
    Positions own(sizes, 45, 11), memory(sizes, 20, 12);
    KeyValueCache cache(2, 100, kCacheFormats[choice % 3]);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      own.append_to(cache.reserve(layer, sizes, 40), 0, 40);
      memory.append_to(cache.reserve_memory(layer, sizes, 20), 0, 20);
    }
    cache.memory_mask = Tensor({3, 20}, DType::u8);
    for (std::size_t i = 0; i < 60; ++i) {
      cache.memory_mask.mutable_view().as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i / 20);
    }
    const Tensor states = Random(13).tensor({3, 20, 4});
    cache.memory_states = states.clone();

    cache.select(rows);
    StoreSizes expected = sizes;
    expected.batch = rows.size();
    EXPECT_EQ(cache.batch(), rows.size());
    EXPECT_EQ(cache.length(), 40u);
    for (Positions* positions : {&own, &memory}) {
      positions->keys = selected(positions->keys, rows);
      positions->values = selected(positions->values, rows);
    }
    for (std::size_t layer = 0; layer < 2; ++layer) {
      own.append_to(cache.reserve(layer, expected, 5), 40, 5);  // continues seamlessly
      expect_stored(cache.reserve(layer, expected, 0), own);
      expect_stored(*cache.memory(layer), memory);
    }
    expect_same_bits("states", cache.memory_states, selected(states, rows));
    ASSERT_EQ(cache.memory_mask.shape(), (Shape{rows.size(), 20}));
    for (std::size_t i = 0; i < 20 * rows.size(); ++i) {
      EXPECT_EQ(cache.memory_mask.view().as<std::uint8_t>()[i], rows[i / 20]);
    }
  }
}

TEST(KeyValueCache, SelectsOnlyWhatIsThere) {
  KeyValueCache cache(1, 100);
  const StoreSizes sizes{2, 1, 4, 4};
  const Positions positions(sizes, 5, 1);
  positions.append_to(cache.reserve(0, sizes, 5), 0, 5);
  const std::vector<std::size_t> rows = {0, 2};
  expect_error(ErrorCode::invalid_argument, {"key/value cache", "no sequence 2", "holds 2"},
               [&] { cache.select(rows); });
  expect_stored(cache.reserve(0, sizes, 0), positions);
}

// With the encoder's keys alone: before the decoder's first position, and again once that has been cropped.
TEST(KeyValueCache, SelectsAndCopiesSequencesThatHaveNoPositionYet) {
  const StoreSizes sizes{3, 2, 4, 4};
  const Positions own(sizes, 5, 1);
  const std::vector<std::size_t> first = {0}, third = {2}, none;
  for (const bool cropped : {false, true}) {
    KeyValueCache cache(1, 100);
    Positions memory(sizes, 6, 2);
    memory.append_to(cache.reserve_memory(0, sizes, 6), 0, 6);
    if (cropped) own.append_to(cache.reserve(0, sizes, 5), 0, 5);
    cache.crop(0);
    const KeyValueCache copy = cache.copy({third, 0, 0}, 4);
    EXPECT_EQ(copy.memory_shape(), (Shape{1, 6}));
    cache.select(first);
    EXPECT_EQ(cache.batch(), cropped ? 1u : 0u);
    memory.keys = selected(memory.keys, first);
    memory.values = selected(memory.values, first);
    expect_stored(*cache.memory(0), memory);
    const auto refused = [](const auto& call) {
      expect_error(ErrorCode::invalid_argument, {"no sequence 2", "holds 1"}, call);
    };
    refused([&] { cache.select(third); });
    refused([&] { cache.copy({third, 0, 0}, 4); });
    StoreSizes one = sizes;
    one.batch = 1;
    const Positions more(one, 5, 3);
    more.append_to(cache.reserve(0, one, 5), 0, 5);
    expect_stored(cache.reserve(0, one, 0), more);
    cache.memory_states = Tensor::zeros({1, 6, 4});
    cache.select(none);
    cache.select(none);
    EXPECT_EQ(cache.memory_states.shape(), (Shape{0, 6, 4}));
  }
}

TEST(KeyValueCache, StartsEmpty) {
  const KeyValueCache cache(3, 100);
  EXPECT_EQ(cache.length(), 0u);
  EXPECT_EQ(cache.batch(), 0u);
  EXPECT_EQ(cache.capacity(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

// A copy that begins at a layer has nothing below, also once it has been cropped.
TEST(KeyValueCache, FitsItsModelAndTheLayersItHolds) {
  KeyValueCache cache(2, 100);
  const StoreSizes sizes{1, 2, 4, 4};
  const Positions positions(sizes, 5, 1);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    positions.append_to(cache.reserve(layer, sizes, 5), 0, 5);
  }
  EXPECT_TRUE(cache.fits(2, 2, 4, 0));
  EXPECT_FALSE(cache.fits(3, 2, 4, 0));
  EXPECT_FALSE(cache.fits(2, 1, 4, 0));
  EXPECT_FALSE(cache.fits(2, 2, 8, 0));
  KeyValueCache upper = cache.copy({{0}, 5, 1}, 0);
  upper.crop(3);
  EXPECT_EQ(upper.length(), 3u);
  EXPECT_TRUE(upper.fits(2, 2, 4, 1));
  EXPECT_FALSE(upper.fits(2, 2, 4, 0));
  expect_error(ErrorCode::invalid_argument, {"no layer 2"}, [&] { cache.copy({{0}, 5, 2}, 0); });
  cache.memory_mask = Tensor({1, 3}, DType::u8);  // of a memory that there is not
  EXPECT_FALSE(cache.fits(2, 2, 4, 0));
}

}  // namespace
}  // namespace clearformer::test
