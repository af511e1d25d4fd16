// The process's pool of threads, and loops that are shared out to it. Who computes a turn of a loop
// never changes what it computes, so results have the same bits for every number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace clearformer {

/// Threads that share the loops, the caller among them: 1 until more are set.
std::size_t num_threads();

/// Makes the pool so large, 1 … kMaxThreads; where the system refuses a thread it stays smaller, and
/// num_threads() says how large. Waits for a loop that is under way; not for use inside of one.
/// In WebAssembly the threads must be serving already (see serve_parallel_loops); without shared memory
/// there is one for good.
void set_num_threads(std::size_t count);

/// The most threads a pool may have.
inline constexpr std::size_t kMaxThreads = 64;

#if defined(__wasm_atomics__)
/// What a thread that the embedder has made does from then on: thread `worker`, 1 …
/// num_threads() - 1, of the pool. Does not return; needs a stack of its own and nothing else.
[[noreturn]] void serve_parallel_loops(std::size_t worker);

/// Says that a thread of the pool has stopped in the middle of a loop: that loop never ends, and its
/// caller traps instead of waiting for ever.
void break_parallel_loops();

/// How a thread that has done its share of a loop passes the time until the others have.
enum class CallerWait {
  sleep,  // after spinning briefly
  spin,   // always: a browser's main thread is not allowed to sleep
};
void set_caller_wait(CallerWait wait);
#endif

namespace detail {
/// One task of a loop, done by a thread of the pool.
using Turn = void (*)(const void* body, std::size_t task, std::size_t worker);
/// Runs the tasks of a loop on all threads of the pool.
void share_out(std::size_t tasks, Turn turn, const void* body);
}  // namespace detail

/// Calls body(task, worker) once for each task < tasks, in any order, and returns when all have
/// returned. Calls at the same time have different workers < num_threads(): the index of memory that
/// a task may use for itself, which must be this loop's own. Bodies must not throw and not depend on
/// each other. Inside another loop's body, or while another thread's loop has the pool, all tasks run
/// in the calling thread, as worker 0: loops may be nested and called from anywhere.
template <class Body>
void parallel_for(std::size_t tasks, const Body& body) {
  if (tasks > 1 && num_threads() > 1) {
    return detail::share_out(
        tasks,
        [](const void* of, std::size_t task, std::size_t worker) {
          (*static_cast<const Body*>(of))(task, worker);
        },
        &body);
  }
  for (std::size_t task = 0; task < tasks; ++task) body(task, std::size_t{0});
}

/// Work below which sharing costs more than it gains, in multiply-adds or steps of that size: some
/// microseconds of one thread, as waking another takes.
inline constexpr std::size_t kLeastWork = 64 * 1024;

/// Cuts 0 … count into runs and calls body(first, end), or body(first, end, worker) where the body
/// takes that, once for each, shared out to the threads.
/// Runs begin at multiples of `grain`; each is worth kLeastWork at least where one element is worth
/// `work`, so that small loops stay in the calling thread, in one run.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t work, std::size_t grain, const Body& body) {
  if (count == 0) return;
  std::size_t run = count;
  if (const std::size_t threads = num_threads(); threads > 1) {
    constexpr std::size_t kRunsPerThread = 4;  // so that a thread that comes late costs little
    const std::size_t even = (count - 1) / (threads * kRunsPerThread) + 1;
    const std::size_t least = kLeastWork / std::max<std::size_t>(work, 1) + 1;
    run = (std::max(even, least) + grain - 1) / grain * grain;
  }
  const auto call = [&](std::size_t first, std::size_t end, std::size_t worker) {
    if constexpr (std::is_invocable_v<const Body&, std::size_t, std::size_t, std::size_t>) {
      body(first, end, worker);
    } else {
      body(first, end);
    }
  };
  if (run >= count) return call(0, count, 0);
  parallel_for((count - 1) / run + 1, [&](std::size_t task, std::size_t worker) {
    call(task * run, std::min(count, (task + 1) * run), worker);
  });
}

}  // namespace clearformer
