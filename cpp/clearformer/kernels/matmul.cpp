#include "clearformer/kernels/matmul.h"

#include "clearformer/simd/vec.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

constexpr std::size_t kWidth = kTileVectors * kLanes;

// Writes the vector of a row of C that starts at `first` of the panel's `columns` columns.
inline void write(float* c, const float* bias, std::size_t first, std::size_t columns, Vec sum) {
  if (first + kLanes <= columns) {
    if (bias != nullptr) sum += load(bias + first);
    store(c + first, sum);
  } else if (first < columns) {
    const std::size_t count = columns - first;
    if (bias != nullptr) sum += load_partial(bias + first, count);
    store_partial(c + first, count, sum);
  }
}

// Rows x one panel: the depth loop is not unrolled, V8 and two-address machines spill otherwise.
template <std::size_t Rows>
inline void tile(const MatmulArgs& args, std::size_t row, std::size_t panel) {
  Vec sums[Rows][kTileVectors];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) sums[r][v] = Vec(0.0f);
  }
  const float* b = args.b + panel * args.panel_stride;
  const float* a = args.a + row * args.a_stride;
  for (std::size_t k = 0; k < args.k; ++k, b += kWidth) {
    Vec columns[kTileVectors];
    for (std::size_t v = 0; v < kTileVectors; ++v) columns[v] = load(b + v * kLanes);
    for (std::size_t r = 0; r < Rows; ++r) {
      const Vec value(a[r * args.a_stride + k]);
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        sums[r][v] = multiply_add(value, columns[v], sums[r][v]);
      }
    }
  }
  const std::size_t first = panel * kWidth;
  const float* bias = args.bias == nullptr ? nullptr : args.bias + first;
  for (std::size_t r = 0; r < Rows; ++r) {
    float* c = args.c + (row + r) * args.c_stride + first;
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      write(c, bias, v * kLanes, args.n - first, sums[r][v]);
    }
  }
}

// The rows that do not fill a tile: one call of the tile with as many rows.
template <std::size_t Rows>
inline void rest(const MatmulArgs& args, std::size_t row, std::size_t panel) {
  if constexpr (Rows > 0) {
    if (args.m - row == Rows) return tile<Rows>(args, row, panel);
    rest<Rows - 1>(args, row, panel);
  }
}

}  // namespace

std::size_t panel_width() { return kWidth; }

void matmul(const MatmulArgs& args) {
  const std::size_t panels = (args.n + kWidth - 1) / kWidth;
  for (std::size_t panel = 0; panel < panels; ++panel) {
    std::size_t row = 0;
    for (; row + kTileRows <= args.m; row += kTileRows) tile<kTileRows>(args, row, panel);
    rest<kTileRows - 1>(args, row, panel);
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
