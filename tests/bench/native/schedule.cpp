// How a forward pass would be shared out among 1, 2, 4 and 8 threads: the tasks of each loop run one after the other in
// this thread, their processor time is measured, and they are given to simulated threads as the pool does it, in order,
// each to the thread that is free first. Caches and memory bandwidth that threads would share are not in it: it shows
// what is not shared out, and tasks of unequal length. Linked with --wrap for the pool's functions.
//
//     clearformer_schedule TASK FOLDER DTYPE LENGTH PAST    as tests/bench/native/model_run.h has them

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "clearformer/tensor/error.h"
#include "clearformer/tensor/thread_pool.h"
#include "model_run.h"

namespace clearformer::bench {

namespace {

/// Until a thread that still spins has joined a loop, with a margin; one that sleeps takes 5 to 8.
constexpr double kWakeMicroseconds = 0.5;
constexpr std::size_t kRounds = 9;

double processor_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// Microseconds of a pass.
struct Pass {
  double serial = 0;  // outside of loops
  double loops = 0;   // until the last thread is done, summed over the loops
  double work = 0;    // of all tasks
  std::size_t count = 0;

  double total() const { return serial + loops; }
};

struct Pool {
  std::size_t threads = 1;
  bool inside = false;  // of a loop: inner loops run in its task
  double since = 0;     // when the last loop ended
  Pass pass;
};

Pool pool;

}  // namespace

// The pool's functions as the linker's --wrap names them.
std::size_t simulated_threads() asm("__wrap__ZN11clearformer11num_threadsEv");
void simulate_threads(std::size_t count) asm("__wrap__ZN11clearformer15set_num_threadsEm");
void simulate_tasks(
    std::size_t tasks, std::size_t workers, detail::Turn turn,
    const void* body) asm("__wrap__ZN11clearformer6detail11share_tasksEmmPFvPKvmmmES2_");
void simulate_ranges(
    std::size_t count, std::size_t work, std::size_t grain, std::size_t workers, detail::Turn turn,
    const void* body) asm("__wrap__ZN11clearformer6detail12share_rangesEmmmmPFvPKvmmmES2_");

std::size_t simulated_threads() { return pool.threads; }

void simulate_threads(std::size_t count) { pool.threads = count; }

namespace {

void simulate(const detail::Loop& loop) {
  if (pool.inside || !loop.is_shared()) return loop.run_alone();
  pool.inside = true;
  double before = processor_microseconds();
  pool.pass.serial += before - pool.since;
  std::vector<double> free_at(loop.threads, kWakeMicroseconds);
  free_at[0] = 0;
  for (std::size_t first = 0; first < loop.grains;) {
    const std::size_t taken = loop.taken_at(first);
    const auto next = std::min_element(free_at.begin(), free_at.end());
    loop.run(first, taken, static_cast<std::size_t>(next - free_at.begin()));
    first += taken;
    const double now = processor_microseconds();
    *next += now - before;
    pool.pass.work += now - before;
    before = now;
  }
  double last = free_at[0];
  for (const double end : free_at) {
    if (end > kWakeMicroseconds) last = std::max(last, end);
  }
  pool.pass.loops += last;
  ++pool.pass.count;
  pool.inside = false;
  pool.since = processor_microseconds();
}

}  // namespace

void simulate_tasks(std::size_t tasks, std::size_t workers, detail::Turn turn, const void* body) {
  simulate(detail::Loop::of_tasks(tasks, std::min(workers, pool.threads), turn, body));
}

void simulate_ranges(std::size_t count, std::size_t work, std::size_t grain, std::size_t workers,
                     detail::Turn turn, const void* body) {
  if (count == 0) return;
  const std::size_t threads = std::min(workers, pool.threads);
  simulate(detail::Loop::of_ranges(count, work, grain, threads, turn, body));
}

namespace {

/// The round with the median total.
Pass median_pass(ModelRun& model) {
  std::vector<Pass> rounds;
  for (std::size_t round = 0; round <= kRounds; ++round) {
    pool.pass = {};
    pool.since = processor_microseconds();
    model.run();
    pool.pass.serial += processor_microseconds() - pool.since;
    if (round > 0) rounds.push_back(pool.pass);  // the first one warms up
  }
  const auto middle = rounds.begin() + kRounds / 2;
  std::nth_element(rounds.begin(), middle, rounds.end(),
                   [](const Pass& a, const Pass& b) { return a.total() < b.total(); });
  return *middle;
}

void simulate(ModelWork work) {
  double alone = 0;
  std::puts("threads       ms  speed-up  efficiency  serial ms  unequal ms  loops");
  for (const std::size_t threads : {1, 2, 4, 8}) {
    work.threads = threads;
    ModelRun model(work);
    const Pass pass = median_pass(model);
    if (threads == 1) alone = pass.total();
    const double times = alone / pass.total();
    const auto shared = static_cast<double>(threads);
    std::printf("%7zu %8.3f %9.2f %11.2f %10.3f %11.3f %6zu\n", threads, pass.total() / 1e3, times,
                times / shared, pass.serial / 1e3, (pass.loops - pass.work / shared) / 1e3,
                pass.count);
  }
}

}  // namespace

}  // namespace clearformer::bench

int main(int count, char** words) {
  if (count != 6) {
    std::fputs("clearformer_schedule TASK FOLDER DTYPE LENGTH PAST\n", stderr);
    return 2;
  }
  try {
    clearformer::bench::simulate({.task = words[1],
                                  .folder = words[2],
                                  .dtype = words[3],
                                  .length = static_cast<std::size_t>(std::atoi(words[4])),
                                  .past = static_cast<std::size_t>(std::atoi(words[5]))});
  } catch (const clearformer::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
