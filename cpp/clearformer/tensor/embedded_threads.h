// The pool's threads where the embedder creates them: in WebAssembly with shared memory, of which thread_pool.cpp then
// defines these functions.
#pragma once

#include <cstddef>

namespace clearformer {

/// The main loop of a thread that the embedder created: thread `worker`, 1 … num_threads() - 1, of the pool. Needs
/// nothing but a stack of its own. Returns at the number of parallel_loops_end().
void serve_parallel_loops(std::size_t worker);

/// A 32-bit number by which the embedder ends the pool's threads, also when no other thread runs any more: it sets the
/// lowest bit and notifies those who wait for a change.
const void* parallel_loops_end();

/// Reports that a thread of the pool has died inside a loop, which therefore never ends: its caller traps instead of
/// waiting for ever.
void break_parallel_loops();

/// How the calling thread waits for the other threads of a loop.
enum class CallerWait {
  sleep,  // after a short spin
  spin,   // always: a browser's main thread may not block
};
void set_caller_wait(CallerWait wait);

}  // namespace clearformer
