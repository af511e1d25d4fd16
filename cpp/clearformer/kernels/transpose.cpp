#include "clearformer/kernels/transpose.h"

#include <algorithm>

#include "clearformer/simd/vec.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

CLEARFORMER_LOOP void transpose_square(const float* from, std::size_t from_stride, float* to,
                                       std::size_t to_stride) {
  Vec rows[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) rows[i] = load(from + i * from_stride);
  simd::CLEARFORMER_TARGET::transpose(rows);
  for (std::size_t i = 0; i < kLanes; ++i) store(to + i * to_stride, rows[i]);
}

}  // namespace

// In bands of columns, whose rows of `to` a processor's caches and its table of pages hold.
void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride) {
  constexpr std::size_t kBand = 16;
  for (std::size_t band = 0; band < columns; band += kBand) {
    const std::size_t end = std::min(band + kBand, columns);
    for (std::size_t i = 0; i < rows; i += kLanes) {
      for (std::size_t j = band; j < end; j += kLanes) {
        const float* const corner = from + i * from_stride + j;
        float* const turned = to + j * to_stride + i;
        if (i + kLanes <= rows && j + kLanes <= end) {
          transpose_square(corner, from_stride, turned, to_stride);
          continue;
        }
        for (std::size_t row = 0; row < std::min(kLanes, rows - i); ++row) {
          for (std::size_t column = 0; column < std::min(kLanes, end - j); ++column) {
            turned[column * to_stride + row] = corner[row * from_stride + column];
          }
        }
      }
    }
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
