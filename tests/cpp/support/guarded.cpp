#include "support/guarded.h"

#include <algorithm>

namespace clearformer::test {

Guarded::Guarded(std::size_t count, std::size_t offset, float fill)
    : first_(kGuard + offset), count_(count), memory_(first_ + count + kGuard, sentinel()) {
  std::fill_n(data(), count, fill);
}

Guarded::Guarded(const std::vector<float>& values, std::size_t offset)
    : Guarded(values.size(), offset) {
  std::copy(values.begin(), values.end(), data());
}

std::vector<float> Guarded::values() const {
  const auto first = memory_.begin() + static_cast<std::ptrdiff_t>(first_);
  return {first, first + static_cast<std::ptrdiff_t>(count_)};
}

bool Guarded::intact() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const bool outside = i < first_ || i >= first_ + count_;
    if (outside && std::bit_cast<std::uint32_t>(memory_[i]) != kSentinel) return false;
  }
  return true;
}

}  // namespace clearformer::test
