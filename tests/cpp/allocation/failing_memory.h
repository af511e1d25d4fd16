// The program's operator new, which counts what is alive and fails when it is told to.
#pragma once

#include <cstddef>

namespace clearformer::test {

/// Bytes that are allocated now.
std::size_t live_bytes();
/// Calls of operator new since the last call of fail_allocations() or stop_failing().
std::size_t allocations();

enum class Failing {
  once,     // that allocation alone
  from_on,  // that one and all behind it: memory is used up
};
/// From now on the allocation number `which`, from 1, fails.
void fail_allocations(std::size_t which, Failing how);
/// All succeed again.
void stop_failing();

}  // namespace clearformer::test
