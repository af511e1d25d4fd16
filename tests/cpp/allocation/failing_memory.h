// The program's operator new, in WebAssembly its malloc, which Emscripten's glue code calls as well: counts live bytes and
// fails on request.
#pragma once

#include <cstddef>

namespace clearformer::test {

/// Bytes currently allocated.
std::size_t live_bytes();
/// The most that was allocated since reset_peak().
std::size_t peak_bytes();
void reset_peak();

/// Allocations since the last call of fail_allocations() or stop_failing().
std::size_t allocations();

enum class Failing {
  once,     // that allocation only
  from_on,  // that one and all later ones: memory is exhausted
};
/// Makes allocation number `which`, counted from 1, fail.
void fail_allocations(std::size_t which, Failing how);
/// Lets all allocations succeed again.
void stop_failing();

}  // namespace clearformer::test
