// The naive twin of how a key/value cache rounds keys and values.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "clearformer/layers/packed_key_values.h"
#include "clearformer/tensor/rounding.h"

namespace clearformer::test {

inline constexpr CacheFormat kCacheFormats[] = {CacheFormat::f32, CacheFormat::f16,
                                                CacheFormat::q8};

/// `x` with each row (of the last axis) rounded to the format: scale times number.
inline Tensor rounded(const Tensor& x, CacheFormat format) {
  Tensor result = x.clone();
  const std::size_t width = x.shape()[x.shape().rank() - 1];
  for (std::size_t row = 0; row < x.elements() && format != CacheFormat::f32; row += width) {
    float* numbers = result.f32() + row;
    float largest = 0.0f;
    bool finite = true;
    for (std::size_t i = 0; i < width; ++i) {
      finite = finite && std::isfinite(numbers[i]);
      largest = std::max(largest, std::fabs(numbers[i]));
    }
    if (!finite) {
      std::fill_n(numbers, width, std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    float power = 1.0f;
    while (largest / power > 65504.0f) power *= 2.0f;
    for (std::size_t i = 0; i < width; ++i) {
      if (format == CacheFormat::f16) {
        numbers[i] = power * float_from_f16(f16_from_float(numbers[i] / power));
      } else if (largest > 1e-30f) {
        numbers[i] = largest / 127.0f * std::nearbyint(numbers[i] * (127.0f / largest));
      } else {
        numbers[i] = 0.0f;
      }
    }
  }
  return result;
}

}  // namespace clearformer::test
