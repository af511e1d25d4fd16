#include "clearformer/tensor/rotation.h"

#include <cstring>

namespace clearformer {

namespace {

// Four neighbours, which compilers add at once.
struct Four {
  float lanes[4];

  friend Four operator+(const Four& a, const Four& b) {
    Four sum;
    for (std::size_t i = 0; i < 4; ++i) sum.lanes[i] = a.lanes[i] + b.lanes[i];
    return sum;
  }
  friend Four operator-(const Four& a, const Four& b) {
    Four difference;
    for (std::size_t i = 0; i < 4; ++i) difference.lanes[i] = a.lanes[i] - b.lanes[i];
    return difference;
  }
};

}  // namespace

// The transform of four neighbours each, then of all fours.
void rotate(float (&block)[kBlock]) {
  for (float& x : block) x *= kRotationScale;
  Four fours[kBlock / 4];
  std::memcpy(fours, block, sizeof block);
#pragma GCC unroll 1
  for (Four& four : fours) hadamard(four.lanes);
  hadamard(fours);
  std::memcpy(block, fours, sizeof block);
}

}  // namespace clearformer
