// The process's thread pool and the parallel loops that run on it. Which thread computes an iteration never changes
// the result: the bits are the same for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>

namespace clearformer {

/// Size of the pool, including the calling thread: 1 until set_num_threads().
std::size_t num_threads();

/// Resizes the pool to the nearest of 1 … kMaxThreads; if the system refuses a thread it stays smaller, as num_threads()
/// reports. Waits for the loop that another thread runs; what that computes may go on. Must not be called inside a loop.
/// In WebAssembly the threads must already be serving (see embedded_threads.h); without shared memory there is
/// always one.
void set_num_threads(std::size_t count);

/// The maximum size of the pool.
inline constexpr std::size_t kMaxThreads = 64;

/// Amount of work below which running in parallel costs more than it saves, in multiply-adds or comparable steps:
/// some microseconds of one thread, about the time to wake another.
inline constexpr std::size_t kLeastWork = std::size_t{64} * 1024;

namespace detail {
/// Runs iterations first … end - 1 of a loop on a thread of the pool.
using Turn = void (*)(const void* body, std::size_t first, std::size_t end, std::size_t worker);

/// A loop as the threads share it: each takes some grains, which are runs of `grain` iterations, and comes back for more.
struct Loop {
  std::size_t count, grain, grains;
  std::size_t least, most;  // grains taken at once
  std::size_t threads;      // that take part, at most: the workers 0 … threads - 1
  Turn turn;
  const void* body;

  static Loop of_tasks(std::size_t tasks, std::size_t threads, Turn turn, const void* body) {
    return {tasks, 1, tasks, 1, 1, threads, turn, body};
  }
  static Loop of_ranges(std::size_t count, std::size_t work, std::size_t grain, std::size_t threads,
                        Turn turn, const void* body) {
    constexpr std::size_t kMostOfThread = 16;  // ranges
    const std::size_t grains = (count + grain - 1) / grain;
    const std::size_t worthwhile = kLeastWork / std::max<std::size_t>(work, 1) / grain + 1;
    const std::size_t least = std::max(worthwhile, grains / (kMostOfThread * threads));
    return {count, grain, grains, least, grains, threads, turn, body};
  }

  bool is_shared() const { return threads > 1 && grains > least; }
  /// How many grains are taken at `first`: a part of what is left, so that long ranges, which read one stream of
  /// memory each, come first, and the threads finish together.
  std::size_t taken_at(std::size_t first) const {
    const std::size_t left = grains - first;
    return std::min(std::clamp(left / (2 * threads), least, most), left);
  }
  void run(std::size_t first, std::size_t taken, std::size_t worker) const {
    turn(body, first * grain, std::min(count, (first + taken) * grain), worker);
  }
  void run_alone() const { run(0, grains, 0); }
};

/// The loop of parallel_for().
void share_tasks(std::size_t tasks, std::size_t workers, Turn turn, const void* body);
/// The loop of parallel_ranges(); throws `invalid_argument` if `grain` is 0.
void share_ranges(std::size_t count, std::size_t work, std::size_t grain, std::size_t workers,
                  Turn turn, const void* body);
}  // namespace detail

/// Calls body(task, worker) once for each task < tasks, in any order, and returns when all have
/// returned. Concurrent calls have different workers < `workers`: an index into per-worker memory, which must belong to
/// this loop alone. That memory and the loop have the same number, num_threads() read once, since another thread may
/// resize the pool in between. Bodies must not throw or depend on each other. Inside another loop's
/// body, or while another thread's loop is using the pool, all tasks run in the calling thread as worker 0: loops
/// may be nested and called from any thread.
template <class Body>
void parallel_for(std::size_t tasks, std::size_t workers, const Body& body) {
  detail::share_tasks(
      tasks, workers,
      [](const void* of, std::size_t first, std::size_t end, std::size_t worker) {
        for (; first < end; ++first) (*static_cast<const Body*>(of))(first, worker);
      },
      &body);
}

/// The same with body(task), by as many threads as there are.
template <class Body>
void parallel_for(std::size_t tasks, const Body& body) {
  detail::share_tasks(
      tasks, kMaxThreads,
      [](const void* of, std::size_t first, std::size_t end, std::size_t) {
        for (; first < end; ++first) (*static_cast<const Body*>(of))(first);
      },
      &body);
}

/// Splits 0 … count into ranges and calls body(first, end, worker) once per range, in parallel, with workers as in
/// parallel_for(). Ranges begin at multiples of `grain`, which is at least 1, and, but for the last, contain
/// at least kLeastWork, an element counting as `work`: small loops stay in the calling thread, as one range.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t work, std::size_t grain, std::size_t workers,
                     const Body& body) {
  detail::share_ranges(
      count, work, grain, workers,
      [](const void* of, std::size_t first, std::size_t end, std::size_t worker) {
        (*static_cast<const Body*>(of))(first, end, worker);
      },
      &body);
}

/// The same with body(first, end), by as many threads as there are.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t work, std::size_t grain, const Body& body) {
  detail::share_ranges(
      count, work, grain, kMaxThreads,
      [](const void* of, std::size_t first, std::size_t end, std::size_t) {
        (*static_cast<const Body*>(of))(first, end);
      },
      &body);
}

}  // namespace clearformer
