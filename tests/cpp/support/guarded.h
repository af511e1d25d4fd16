// Guarded: misaligned floats with sentinels on both sides. A kernel that writes outside is detected by
// intact(); one that reads outside reads NaN, which propagates to its results.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace clearformer::test {

class Guarded {
 public:
  /// `count` elements that begin `offset` floats after an aligned address, each set to `fill`.
  explicit Guarded(std::size_t count, std::size_t offset = 0, float fill = 0.0f);
  Guarded(const std::vector<float>& values, std::size_t offset);

  float* data() { return memory_.data() + first_; }
  std::vector<float> values() const;
  /// Whether nothing outside the elements was written.
  bool intact() const;

  /// A quiet NaN with a payload that no computation produces.
  static float sentinel() { return std::bit_cast<float>(kSentinel); }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::uint32_t kSentinel = 0x7fc5a5a5u;
  std::size_t first_, count_;
  std::vector<float> memory_;
};

}  // namespace clearformer::test
