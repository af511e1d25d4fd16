// In how many turns a single row's product reads its weights (matmul.h): chosen by measuring, since how a processor fetches
// streams from memory differs from machine to machine. The results have the same bits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "clearformer/tensor/stopwatch.h"

namespace clearformer::kernels {

/// Tries 1, 2 and 4 turns (kMostTurns) on the products there are, until each has taken kEnough seconds, and then keeps
/// to the fastest. Of each number the faster half counts: what stops a machine for a moment slows one. May be used by
/// several threads.
class RowTurns {
 public:
  /// Seconds for which each number of turns is tried: many ticks of the clock, which in browsers may be of a millisecond.
  static constexpr double kEnough = 0.05;
  /// Bytes of weights below which a product is not tried: in a cache all are alike.
  static constexpr std::size_t kLeastBytes = 1 << 18;

  /// Calls multiply(turns) for a product that reads `bytes` of weights.
  template <class Multiply>
  void run(std::size_t bytes, Multiply multiply) {
    const std::size_t turns = next(bytes);
    if (chosen() != 0 || bytes < kLeastBytes) return multiply(turns);
    const Stopwatch time;
    multiply(turns);
    took(turns, bytes, time.seconds());
  }

  /// The number of turns of the next product.
  std::size_t next(std::size_t bytes);
  /// Records a product's time.
  void took(std::size_t turns, std::size_t bytes, double seconds);
  /// The fastest number of turns, or 0 as long as it is not known.
  std::size_t chosen() const { return chosen_.load(std::memory_order_relaxed); }

 private:
  struct Trial {
    std::atomic<std::uint64_t> nanoseconds{0};  // of the current half
    std::atomic<std::size_t> bytes{0};          // and what it has read
    std::atomic<std::uint32_t> least{~0u};  // nanoseconds that 2^14 bytes took in the fastest half
    std::atomic<std::uint32_t> halves{0};
  };
  std::array<Trial, 3> trials_;  // of 2^i turns
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::size_t> chosen_{0};
};

}  // namespace clearformer::kernels
