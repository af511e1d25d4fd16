// The pool runs every task exactly once, on distinct worker indices, for any size, caller and nesting.
#include "clearformer/tensor/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <numeric>
#include <vector>

#include "support/expect_error.h"

#if !defined(__EMSCRIPTEN__)
#include <map>
#include <mutex>
#include <thread>
#endif

namespace clearformer {
namespace {

// A pool of `count` threads for one test.
struct PoolOf {
  explicit PoolOf(std::size_t count) { set_num_threads(count); }
  ~PoolOf() { set_num_threads(1); }
};
#if defined(__EMSCRIPTEN__)  // these programs have no shared memory
constexpr std::size_t kSizes[] = {1};
#else
constexpr std::size_t kSizes[] = {1, 2, 3, 4, 8, 16};
#endif

std::vector<int> times_run(std::size_t tasks) {
  const auto counts = std::make_unique<std::atomic<int>[]>(tasks);
  parallel_for(tasks, [&](std::size_t task) { ++counts[task]; });
  return {counts.get(), counts.get() + tasks};
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const std::size_t size : kSizes) {
    const PoolOf pool(size);
    EXPECT_EQ(num_threads(), size);
    for (const std::size_t tasks : {0u, 1u, 2u, 3u, 15u, 16u, 17u, 1000u}) {
      EXPECT_EQ(times_run(tasks), std::vector<int>(tasks, 1)) << size << " threads";
    }
  }
}

TEST(ThreadPool, WorkersHaveNumbersOfTheirOwn) {
  for (const std::size_t size : kSizes) {
    const PoolOf pool(size);
    std::vector<std::atomic<int>> at(size);
    std::atomic<int> collisions{0}, strangers{0};
    for (int round = 0; round < 200; ++round) {
      parallel_for(64, num_threads(), [&](std::size_t, std::size_t worker) {
        if (worker >= size) return void(++strangers);
        if (at[worker].fetch_add(1) != 0) ++collisions;
        at[worker].fetch_sub(1);
      });
    }
    EXPECT_EQ(collisions, 0);
    EXPECT_EQ(strangers, 0);
  }
}

TEST(ThreadPool, WorkersAreThoseOfTheirLoop) {
  const PoolOf pool(kSizes[std::size(kSizes) - 1]);
  for (const std::size_t workers : {0u, 1u, 2u, 5u, 1000u}) {
    const std::size_t most = std::clamp<std::size_t>(workers, 1, num_threads());
    std::atomic<int> strangers{0};
    std::atomic<std::size_t> runs{0};
    for (int round = 0; round < 50; ++round) {
      parallel_for(64, workers, [&](std::size_t, std::size_t worker) {
        ++runs;
        if (worker >= most) ++strangers;
      });
      parallel_ranges(64, kLeastWork, 1, workers,
                      [&](std::size_t first, std::size_t end, std::size_t worker) {
                        runs += end - first;
                        if (worker >= most) ++strangers;
                      });
    }
    EXPECT_EQ(runs, 50u * 2u * 64u);
    EXPECT_EQ(strangers, 0) << workers << " workers";
  }
}

TEST(ThreadPool, WhatTasksWroteIsThereAfterwards) {
  const PoolOf pool(4);
  for (std::size_t round = 0; round < 3000; ++round) {
    std::vector<std::size_t> squares(37);
    parallel_for(squares.size(), [&](std::size_t task) { squares[task] = task * task + round; });
    for (std::size_t i = 0; i < squares.size(); ++i) ASSERT_EQ(squares[i], i * i + round);
  }
}

TEST(ThreadPool, LoopsMayBeNested) {
  for (const std::size_t size : kSizes) {
    const PoolOf pool(size);
    std::atomic<int> inner{0}, deepest{0};
    parallel_for(10, [&](std::size_t) {
      parallel_for(10, num_threads(), [&](std::size_t, std::size_t worker) {
        if (worker == 0) ++inner;
        parallel_for(2, [&](std::size_t) { ++deepest; });
      });
    });
    EXPECT_EQ(inner, 100);
    EXPECT_EQ(deepest, 200);
  }
}

TEST(ThreadPool, RangesCoverEverythingOnceAndBeginAtTheGrain) {
  for (const std::size_t size : kSizes) {
    const PoolOf pool(size);
    for (const std::size_t count : {0u, 1u, 63u, 64u, 65u, 1000u, 100000u}) {
      for (const std::size_t work : {0u, 1u, 1000u, 1u << 20}) {
        std::vector<std::atomic<int>> covered(count);
        std::atomic<int> askew{0};
        parallel_ranges(count, work, 64, [&](std::size_t first, std::size_t end) {
          if (first % 64 != 0 || first >= end || end > count) ++askew;
          for (std::size_t i = first; i < end; ++i) ++covered[i];
        });
        EXPECT_EQ(askew, 0);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(covered[i], 1) << i << " of " << count;
      }
    }
  }
}

TEST(ThreadPool, SmallLoopsStayWithTheCaller) {
  const PoolOf pool(4);
  int runs = 0;  // not atomic: only one range runs
  parallel_ranges(1000, 1, 1, [&](std::size_t first, std::size_t end) {
    ++runs;
    EXPECT_EQ(first, 0u);
    EXPECT_EQ(end, 1000u);
  });
  EXPECT_EQ(runs, 1);
}

#if !defined(__EMSCRIPTEN__)

TEST(ThreadPool, RangesGetShorterTowardsTheEnd) {
  for (const std::size_t size : {2u, 3u, 4u, 8u}) {
    const PoolOf pool(size);
    constexpr std::size_t kCount = 10000, kGrain = 4;
    std::mutex mutex;
    std::map<std::size_t, std::size_t> ends;  // by the first of a range
    parallel_ranges(kCount, kLeastWork, kGrain, [&](std::size_t first, std::size_t end) {
      const std::lock_guard lock(mutex);
      ends[first] = end;
    });
    EXPECT_EQ(ends[0], kCount / kGrain / (2 * size) * kGrain);
    std::size_t longest = kCount, last = 0;
    for (const auto& [first, end] : ends) {
      EXPECT_EQ(first, last);
      EXPECT_LE(end - first, longest);
      longest = end - first;
      last = end;
    }
    EXPECT_EQ(last, kCount);
    EXPECT_LE(longest, kCount / (16 * size) + kGrain);  // of the last range
  }
}

TEST(ThreadPool, RangesAreWorthwhile) {
  const PoolOf pool(4);
  std::atomic<std::size_t> short_ones{0};
  parallel_ranges(10000, kLeastWork / 1000, 1, [&](std::size_t first, std::size_t end) {
    if (end - first < 1000) ++short_ones;
  });
  EXPECT_LE(short_ones, 1u);  // the last
}

TEST(ThreadPool, IsLimited) {
  set_num_threads(0);
  EXPECT_EQ(num_threads(), 1u);
  set_num_threads(100000);
  EXPECT_LE(num_threads(), kMaxThreads);
  EXPECT_EQ(times_run(1000), std::vector<int>(1000, 1));
  set_num_threads(1);
}

TEST(ThreadPool, SharesALoopOutToOthersThanTheCaller) {
  const PoolOf pool(3);
  std::atomic<std::size_t> arrived{0};
  // No task ends before each of the three threads has one: a single thread would never finish.
  parallel_for(3, [&](std::size_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3u);
}

TEST(ThreadPool, WakesWorkersThatHaveGoneToSleep) {
  const PoolOf pool(2);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // far longer than they spin
    std::atomic<std::size_t> arrived{0};
    parallel_for(2, [&](std::size_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    });
    EXPECT_EQ(arrived, 2u);
  }
}

TEST(ThreadPool, CallersAtTheSameTimeBothGetThrough) {
  const PoolOf pool(3);
  std::atomic<std::size_t> total{0};
  const auto call = [&] {
    for (int round = 0; round < 500; ++round) {
      parallel_for(20, [&](std::size_t task) { total += task; });
    }
  };
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) callers.emplace_back(call);
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4u * 500u * 190u);
}

TEST(ThreadPool, ChangesItsSizeWhileOthersCall) {
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread caller([&] {
    while (!done) {
      const std::size_t workers = num_threads();
      std::vector<std::size_t> sums(workers);  // memory per worker
      parallel_for(30, workers, [&](std::size_t task, std::size_t worker) {
        worker < workers ? void(sums[worker] += task) : void(++wrong);
      });
      if (std::accumulate(sums.begin(), sums.end(), std::size_t{0}) != 435) ++wrong;
    }
  });
  for (int round = 0; round < 60; ++round) set_num_threads(1 + static_cast<std::size_t>(round) % 5);
  done = true;
  caller.join();
  set_num_threads(1);
  EXPECT_EQ(wrong, 0);
}

#endif

TEST(ThreadPool, RefusesAGrainOfNothing) {
  test::expect_error(ErrorCode::invalid_argument, {"grain"},
                     [] { parallel_ranges(100, 1, 0, [](std::size_t, std::size_t) {}); });
}

}  // namespace
}  // namespace clearformer
