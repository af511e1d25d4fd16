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
  const std::uint64_t time = trial.nanoseconds += static_cast<std::uint64_t>(seconds * 1e9);
  const std::size_t read = trial.bytes += bytes;
  if (time < static_cast<std::uint64_t>(kEnough / 2 * 1e9)) return;
  trial.nanoseconds = 0;
  trial.bytes = 0;
  const std::uint64_t rate = (time << 14) / read;
  trial.least = static_cast<std::uint32_t>(std::min<std::uint64_t>(trial.least, rate));
  ++trial.halves;
  const Trial* fastest = &trial;
  for (const Trial& other : trials_) {
    if (other.halves < 2) return;
    if (other.least < fastest->least) fastest = &other;
  }
  chosen_.store(std::size_t{1} << (fastest - trials_.data()), std::memory_order_relaxed);
}

}  // namespace clearformer::kernels
