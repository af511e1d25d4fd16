#include "clearformer/kernels/rotary.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

// Pairs (a, b) in adjacent lanes of two vectors, rotated by the angles of one vector:
// (a·cos + b·(-sin), b·cos + a·sin).
inline void turn_neighbours(Vec& low, Vec& high, Vec cosine, Vec sine) {
  const Vec minus = -sine;
  low = low * zip_lo(cosine, cosine) + exchange_lanes<1>(low) * zip_lo(minus, sine);
  high = high * zip_hi(cosine, cosine) + exchange_lanes<1>(high) * zip_hi(minus, sine);
}

}  // namespace

void rotate_halves(float* x, const float* cosines, const float* sines, std::size_t half) {
  float* y = x + half;
  std::size_t i = 0;
  const auto rotate = [](Vec& a, Vec& b, Vec cosine, Vec sine) {
    const Vec first = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = first;
  };
  for (; i + kLanes <= half; i += kLanes) {
    Vec a = load(x + i), b = load(y + i);
    rotate(a, b, load(cosines + i), load(sines + i));
    store(x + i, a);
    store(y + i, b);
  }
  if (i < half) {
    const std::size_t rest = half - i;
    Vec a = load_partial(x + i, rest), b = load_partial(y + i, rest);
    rotate(a, b, load_partial(cosines + i, rest), load_partial(sines + i, rest));
    store_partial(x + i, rest, a);
    store_partial(y + i, rest, b);
  }
}

void rotate_interleaved(float* x, const float* cosines, const float* sines, std::size_t pairs) {
  std::size_t i = 0;
  for (; i + kLanes <= pairs; i += kLanes) {
    float* at = x + 2 * i;
    Vec low = load(at), high = load(at + kLanes);
    turn_neighbours(low, high, load(cosines + i), load(sines + i));
    store(at, low);
    store(at + kLanes, high);
  }
  if (i == pairs) return;
  const std::size_t rest = pairs - i;
  float block[2 * kLanes] = {};
  for (std::size_t j = 0; j < 2 * rest; ++j) block[j] = x[2 * i + j];
  Vec low = load(block), high = load(block + kLanes);
  turn_neighbours(low, high, load_partial(cosines + i, rest), load_partial(sines + i, rest));
  store(block, low);
  store(block + kLanes, high);
  for (std::size_t j = 0; j < 2 * rest; ++j) x[2 * i + j] = block[j];
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
