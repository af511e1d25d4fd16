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

// Rows that follow each other in memory, asked for in that order, so that the processor reads on by itself.
CLEARFORMER_LOOP void prefetch_all(const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLine) prefetch(from + i);
}

}  // namespace

void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride) {
  for (std::size_t i = 0; i < rows; i += kLanes) {
    if (from_stride == columns) {
      prefetch_all(from + i * columns, std::min(kLanes, rows - i) * columns);
    }
    for (std::size_t j = 0; j < columns; j += kLanes) {
      const float* const corner = from + i * from_stride + j;
      float* const turned = to + j * to_stride + i;
      if (i + kLanes <= rows && j + kLanes <= columns) {
        transpose_square(corner, from_stride, turned, to_stride);
        continue;
      }
      for (std::size_t row = 0; row < std::min(kLanes, rows - i); ++row) {
        for (std::size_t column = 0; column < std::min(kLanes, columns - j); ++column) {
          turned[column * to_stride + row] = corner[row * from_stride + column];
        }
      }
    }
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
