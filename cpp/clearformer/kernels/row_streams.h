// How many panels a single row reads at once from main memory, decided by measuring, since machines differ: four panels
// took 0.66 of one's time on a Zen 3 with pages of 4 kB, more than one's time on a Zen 5. The bits of the product are the
// same. Included by kernel files only.
#pragma once

#include <atomic>
#include <cstddef>

#include "clearformer/tensor/stopwatch.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

/// Times the first products of a kind, which take one panel and several in turns, by the fastest of each way: engines
/// compile a function better only after some calls. Threads may add at the same time, which loses no more than a time.
class RowStreams {
 public:
  /// Calls multiply(way) with way 0 (one panel) or 1 (several) for a product that reads `bytes` of weights.
  template <class Multiply>
  void run(std::size_t bytes, Multiply multiply) {
    const unsigned count = count_.load(std::memory_order_relaxed);
    if (count == kProducts) return multiply(decided());
    count_.store(count + 1, std::memory_order_relaxed);
    const unsigned way = (count + 1) / 2 % 2;  // 0 1 1 0 0 1 1 0: layers repeat in pairs
    const Stopwatch time;
    multiply(way);
    const float rate = static_cast<float>(bytes) / static_cast<float>(time.seconds() + kClock);
    if (rate > best_[way].load(std::memory_order_relaxed)) {
      best_[way].store(rate, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr unsigned kProducts = 32;
  static constexpr double kClock = 1e-4;  // the resolution of a page's clock

  // Several, unless one is clearly faster.
  unsigned decided() const {
    const float one = best_[0].load(std::memory_order_relaxed);
    return one > 1.05f * best_[1].load(std::memory_order_relaxed) ? 0 : 1;
  }

  std::atomic<unsigned> count_{0};
  std::atomic<float> best_[2] = {0.0f, 0.0f};
};

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
