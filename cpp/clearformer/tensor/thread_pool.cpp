#include "clearformer/tensor/thread_pool.h"

#include "clearformer/tensor/error.h"

#if defined(__EMSCRIPTEN__) && !defined(__wasm_atomics__)

// WebAssembly without shared memory: one thread. Calls that need more are removed at link time.
namespace clearformer {

namespace {
void share_out(const detail::Loop& loop) { loop.run_alone(); }
}  // namespace

std::size_t num_threads() { return 1; }
void set_num_threads(std::size_t) {}

}  // namespace clearformer

#else

#include "clearformer/tensor/atomic_wait.h"

#if defined(__wasm_atomics__)
#include "clearformer/tensor/embedded_threads.h"
#else
#include <exception>
#include <thread>
#include <vector>
#endif

namespace clearformer {

namespace {

// Iterations to spin before sleeping: about ten microseconds, longer than the gaps between the loops of a forward
// pass and much shorter than a scheduler's time slice.
#if defined(__wasm_atomics__)
constexpr int kSpins = 20'000;
#else
constexpr int kSpins = 1'000;
#endif

// The parallel loop: one at a time. Workers join it while it is open; the caller leaves once it is closed and all
// who joined have left, so a worker that comes late, or never, delays nobody.
constexpr std::uint32_t kOpen = 1u << 31;
std::atomic<std::uint32_t> at_loop{0};  // workers that have joined, and kOpen

detail::Loop loop;                    // written while closed and without workers
std::atomic<std::size_t> claimed{0};  // grains of it that have been started

// What idle workers watch: kNext more with each loop, and kOver when they shall leave.
constexpr std::uint32_t kOver = 1, kNext = 2;
std::atomic<std::uint32_t> round{0};
std::atomic<std::uint32_t> sleepers{0};  // workers that may have to be woken
std::atomic<bool> caller_sleeps{false};
std::atomic<bool> taken{false};  // by the thread whose loop is using the pool
std::atomic<std::size_t> threads{1};

bool join_loop() {
  std::uint32_t state = at_loop.load();
  while ((state & kOpen) != 0) {
    if (at_loop.compare_exchange_weak(state, state + 1)) return true;
  }
  return false;
}

void take_turns(std::size_t worker) {
  if (worker >= loop.threads) return;
  std::size_t first = claimed.load();
  while (first < loop.grains) {
    const std::size_t grains = loop.taken_at(first);
    if (!claimed.compare_exchange_weak(first, first + grains)) continue;
    loop.run(first, grains, worker);
    first = claimed.load();
  }
}

void leave_loop() {
  const bool last = at_loop.fetch_sub(1) == 1;  // 1: closed, and no other worker
  if (last && caller_sleeps.load()) wake_all(at_loop);
}

// Waits for the next loop and returns its number.
std::uint32_t next_round(std::uint32_t seen) {
  for (int i = 0; i < kSpins; ++i) {
    const std::uint32_t now = round.load();
    if (now != seen) return now;
    relax();
  }
  sleepers.fetch_add(1);
  while (round.load() == seen) wait_while_equal(round, seen);
  sleepers.fetch_sub(1);
  return round.load();
}

void announce_round() {
  round.fetch_add(kNext);
  if (sleepers.load() > 0) wake_all(round);
}

#if defined(__wasm_atomics__)
CallerWait caller_wait = CallerWait::sleep;
bool may_sleep() { return caller_wait == CallerWait::sleep; }

std::atomic<bool> broken{false};
// Traps if a thread has died in the loop: it would never leave.
bool is_empty(std::uint32_t state) {
  if (broken.load(std::memory_order_relaxed)) __builtin_trap();
  return state == 0;
}
#else
constexpr bool may_sleep() { return true; }
constexpr bool is_empty(std::uint32_t state) { return state == 0; }
#endif

// Worker `worker`, which has seen round `seen`, takes part in the loops until they are over.
void serve(std::size_t worker, std::uint32_t seen) {
  for (;;) {
    seen = next_round(seen);
    if ((seen & kOver) != 0) return;
    if (!join_loop()) continue;
    take_turns(worker);
    leave_loop();
  }
}

// Closes the loop and waits until every worker has left it.
void await_workers() {
  at_loop.fetch_and(~kOpen);
  for (int i = 0; i < kSpins || !may_sleep(); ++i) {
    if (is_empty(at_loop.load())) return;
    relax();
  }
  caller_sleeps.store(true);
  for (;;) {
    const std::uint32_t state = at_loop.load();
    if (is_empty(state)) break;
    wait_while_equal(at_loop, state);
  }
  caller_sleeps.store(false);
}

void share_out(const detail::Loop& next) {
  if (!next.is_shared() || taken.exchange(true)) return next.run_alone();
  loop = next;
  claimed.store(0, std::memory_order_relaxed);
  at_loop.store(kOpen);
  announce_round();
  take_turns(0);
  await_workers();
  taken.store(false);
}

}  // namespace

std::size_t num_threads() { return threads.load(std::memory_order_relaxed); }

#if defined(__wasm_atomics__)

void break_parallel_loops() {
  broken.store(true);
  at_loop.fetch_add(1);  // changes the number, so that the caller does not sleep through this
  wake_all(at_loop);
}

void set_caller_wait(CallerWait wait) { caller_wait = wait; }

void set_num_threads(std::size_t count) {
  threads.store(std::clamp<std::size_t>(count, 1, kMaxThreads));
}

void serve_parallel_loops(std::size_t worker) { serve(worker, 0); }

const void* parallel_loops_end() { return &round; }

#else

namespace {

// Threads end when the pool is resized and at process exit.
class Threads {
 public:
  ~Threads() { resize(1); }

  void resize(std::size_t count) {
    while (taken.exchange(true)) std::this_thread::yield();
    threads.store(1);
    round.fetch_or(kOver);
    wake_all(round);
    for (std::thread& member : members_) member.join();
    members_.clear();
    round.fetch_and(~kOver);
    try {
      while (members_.size() + 1 < count) {
        members_.emplace_back(serve, members_.size() + 1, round.load());
      }
    } catch (const std::exception&) {  // no threads or memory for more: use those that run
    }
    threads.store(members_.size() + 1);
    taken.store(false);
  }

 private:
  std::vector<std::thread> members_;
};

Threads pool;

}  // namespace

void set_num_threads(std::size_t count) {
  pool.resize(std::clamp<std::size_t>(count, 1, kMaxThreads));
}

#endif

}  // namespace clearformer

#endif

namespace clearformer {

namespace {
// Of the pool now, at most `workers`.
std::size_t threads_for(std::size_t workers) {
  return std::clamp<std::size_t>(workers, 1, num_threads());
}
}  // namespace

void detail::share_tasks(std::size_t tasks, std::size_t workers, Turn turn, const void* body) {
  share_out(Loop::of_tasks(tasks, threads_for(workers), turn, body));
}

void detail::share_ranges(std::size_t count, std::size_t work, std::size_t grain,
                          std::size_t workers, Turn turn, const void* body) {
  if (grain == 0) fail(ErrorCode::invalid_argument, "parallel_ranges: the grain is 0");
  if (count > 0) share_out(Loop::of_ranges(count, work, grain, threads_for(workers), turn, body));
}

}  // namespace clearformer
