#include "clearformer/kernels/row_turns.h"

#include <algorithm>
#include <bit>

#include "clearformer/kernels/matmul.h"

namespace clearformer::kernels {

std::size_t RowTurns::next(std::size_t bytes) {
  if (const std::size_t turns = chosen(); turns != 0) return turns;
  if (bytes < kLeastBytes) return kUsualTurns;
  // Not in order: the matrices of a model are, too.
  const std::uint32_t count = count_.fetch_add(1, std::memory_order_relaxed);
  return std::size_t{1} << (count * 2654435761u >> 16) % trials_.size();
}

void RowTurns::took(std::size_t turns, std::size_t bytes, double seconds) {
  Trial& trial = trials_[static_cast<std::size_t>(std::countr_zero(turns))];
  trial.nanoseconds.fetch_add(static_cast<std::uint64_t>(seconds * 1e9), std::memory_order_relaxed);
  trial.bytes.fetch_add(bytes, std::memory_order_relaxed);
  std::array<double, std::tuple_size_v<decltype(trials_)>> times;  // per byte
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const auto taken = static_cast<double>(trials_[i].nanoseconds.load(std::memory_order_relaxed));
    if (taken < kEnough * 1e9) return;
    times[i] = taken / static_cast<double>(trials_[i].bytes.load(std::memory_order_relaxed));
  }
  const auto fastest = std::min_element(times.begin(), times.end()) - times.begin();
  chosen_.store(std::size_t{1} << fastest, std::memory_order_relaxed);
}

}  // namespace clearformer::kernels
