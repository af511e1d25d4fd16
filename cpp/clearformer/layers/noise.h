// Noise: normally distributed numbers, each computed from a seed and the coordinates of its element alone, so that an
// element's noise does not depend on the batch, the cache, threads or the machine (no function of the C library is used).
#pragma once

#include <cstdint>
#include <string_view>

namespace clearformer {

/// A sequence of random bits that depends on everything it was given.
class NoiseKey {
 public:
  NoiseKey(std::uint64_t seed, std::string_view name);
  /// The key of an element: that of the tensor with one more coordinate.
  NoiseKey with(std::uint64_t coordinate) const;
  /// A number from the normal distribution of mean 0 and standard deviation 1.
  double normal() const;

 private:
  explicit NoiseKey(std::uint64_t state) : state_(state) {}
  std::uint64_t state_;
};

}  // namespace clearformer
